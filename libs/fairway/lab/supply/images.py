"""`python -m fairway.lab.supply.images`: asks registries for the digests of the images that compose and the Dockerfile
name, and writes them there and into deploy/images.lock. With `--check` it asks nobody, and ends with 1 unless all are
there.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from fairway.lab.supply.image_names import Image, named, pinned
from fairway.lab.supply.registry import NoDigest, digest

LOCK = Path("deploy/images.lock")
FILES = (Path("docker-compose.yml"), Path("deploy/Dockerfile"))
_HEAD = "# Digests of the images that compose and the Dockerfile name, of all platforms: written by `make digests`\n"


def write(root: Path, ask: Callable[[Image], str]) -> dict[str, str]:
    """Asks for each image once, before anything is written: a registry that does not answer leaves all as it was.
    Returns the digests by the names of images."""
    texts = {path: (root / path).read_text() for path in FILES}
    images = {one.name: one for text in texts.values() for one in named(text)}
    digests = {name: ask(images[name]) for name in sorted(images)}
    for path, text in texts.items():
        (root / path).write_text(pinned(text, digests), "utf-8")
    lines = [f"{name} {found}\n" for name, found in digests.items()]
    (root / LOCK).write_text("".join((_HEAD, *lines)), "utf-8")
    return digests


def locked(root: Path) -> dict[str, str]:
    """The digests that were written last; none where nobody has asked yet."""
    if not (root / LOCK).exists():
        return {}
    lines = [line for line in (root / LOCK).read_text().splitlines() if not line.startswith("#")]
    return dict(line.split(" ", 1) for line in lines)


def complaints(root: Path) -> list[str]:
    """One for each image that is not named by the digest that was written down for it."""
    wanted = locked(root)
    return [complaint for path in FILES for complaint in _of(path, (root / path).read_text(), wanted)]


def _of(path: Path, text: str, wanted: Mapping[str, str]) -> list[str]:
    found = []
    for one in named(text):
        if not one.digest:
            found.append(f"{path}: {one.name} has no digest; run `make digests` where registries are reached")
        elif one.digest != wanted.get(one.name):
            found.append(f"{path}: the digest of {one.name} is not that of {LOCK}; run `make digests`")
    return found


def main(check: Annotated[bool, typer.Option("--check", help="Ask nobody; say what has no digest.")] = False) -> None:
    root = Path()
    if not check:
        try:
            digests = write(root, digest)
        except NoDigest as error:
            typer.echo(f"nothing was written: {error}", err=True)
            raise typer.Exit(1) from None
        typer.echo(f"wrote the digests of {len(digests)} images")
        return
    found = complaints(root)
    for complaint in found:
        typer.echo(complaint, err=True)
    raise typer.Exit(1 if found else 0)


if __name__ == "__main__":
    typer.run(main)
