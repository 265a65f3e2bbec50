"""`fairway crds`: the CustomResourceDefinitions for the hub, to be piped into kubectl.

`python -m fairway.cli.crds` writes them to deploy/crds, one file each.
"""

from pathlib import Path
from typing import Any

import typer
import yaml

from fairway.workloads.crds import definitions

ROOT = Path("deploy/crds")
commands = typer.Typer()


def pages() -> dict[str, str]:
    """The text of every file by its name."""
    return {f"{name}.yaml": page(one) for name, one in definitions().items()}


def page(one: dict[str, Any]) -> str:
    return yaml.dump(one, Dumper=_Plain, sort_keys=False, width=120, allow_unicode=True)


class _Plain(yaml.SafeDumper):
    """Without anchors: a schema that is used twice is written twice, as people read it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def write(root: Path) -> list[str]:
    """Writes all files below `root` and removes those of kinds that are no more; returns the names."""
    made = pages()
    root.mkdir(parents=True, exist_ok=True)
    for old in root.glob("*.yaml"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (root / name).write_text(text, "utf-8")
    return list(made)


@commands.command()
def crds() -> None:
    """Print what the hub needs to know of policies, quota trees, queues, tenant profiles and bindings, for kubectl
    apply -f -."""
    typer.echo("---\n".join(pages().values()), nl=False)


if __name__ == "__main__":
    typer.echo(f"wrote {len(write(ROOT))} files below {ROOT}/")
