"""Builds what real clusters are made of, once: `python -m fairway.lab.kubereal.build [MODULE ...]` (`make kubernetes`).

Without names, the examples that the operators publish are fetched, too (examples.py).

Every module's result lies in the cache under the checksum of its go.mod, go.sum and sources, so that a change builds
anew what it changes, and a second call only looks.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path

from fairway.lab.kubereal.sources import examples
from fairway.lab.kubereal.sources.modules import FOLDER, MODULES, Module
from fairway.lab.kubereal.sources.slim_definitions import slimmed
from fairway.lab.kubereal.sources.toolchain import NoGo, environment, go

Say = Callable[[str], None]
_PROGRESS_S = 20.0
# Raise it when the way of building changes, so that old results are not taken for new ones.
_RECIPE = "1"


class BuildError(Exception):
    """A module does not build; with the compiler's last words."""


def cache() -> Path:
    """FAIRWAY_KUBERNETES_CACHE, or `.cache/kubernetes` of the checkout, or of the home for an installed wheel."""
    given = os.environ.get("FAIRWAY_KUBERNETES_CACHE", "")
    if given:
        return Path(given)
    checkout = Path(__file__).parents[4]
    if (checkout / "Makefile").exists():
        return checkout / ".cache" / "kubernetes"
    return Path.home() / ".cache" / "fairway" / "kubernetes"


class Tools:
    """The built programs and kind definitions."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def folder(self, module: str) -> Path:
        return self._root / f"{module}-{_checksum(MODULES[module])}"

    def program(self, name: str) -> Path:
        """KeyError for a name that no module has."""
        for module in MODULES.values():
            if name in module.programs or name in module.links:
                return self.folder(module.name) / "bin" / name
        raise KeyError(name)

    def crds(self, module: str) -> tuple[Path, ...]:
        """The CustomResourceDefinitions of a module, as its authors ship them."""
        return tuple(sorted((self.folder(module) / "crds").glob("*.yaml")))

    def built(self, module: str) -> bool:
        return (self.folder(module) / "done").exists()


def tools(names: Iterable[str] = tuple(MODULES), say: Say = lambda text: None) -> Tools:
    """Builds what is not there yet. Raises BuildError, or NoGo when there is nothing to build with."""
    found = Tools(cache())
    missing = [MODULES[name] for name in names if not found.built(name)]
    if missing:
        with _alone(cache()):
            missing = [one for one in missing if not found.built(one.name)]
            for at, module in enumerate(missing, 1):
                _build(found, module, partial(_counted, say, f"[{at}/{len(missing)}]"))
    return found


def _counted(say: Say, count: str, text: str) -> None:
    say(f"{count} {text}")


def _build(found: Tools, module: Module, say: Say) -> None:
    """Into a folder beside the final one: what is under the final name is whole."""
    started = time.monotonic()
    program = go()
    final = found.folder(module.name)
    draft = final.with_suffix(".draft")
    shutil.rmtree(draft, ignore_errors=True)
    (draft / "bin").mkdir(parents=True)
    say(f"{module.name}: building {', '.join(module.links or module.programs)} from source ...")
    for name, package in module.programs.items():
        options = [
            "-v",
            "-trimpath",
            f"-ldflags={module.flags}",
            *(("-tags", ",".join(module.tags)) if module.tags else ()),
        ]
        _run([str(program), "build", *options, "-o", str(draft / "bin" / name), package], module, say)
    for name in module.links:
        (draft / "bin" / name).symlink_to(next(iter(module.programs)))
    _definitions(program, module, draft / "crds")
    (draft / "done").touch()
    shutil.rmtree(final, ignore_errors=True)
    draft.rename(final)
    for old in final.parent.glob(f"{module.name}-*"):
        if old != final:
            shutil.rmtree(old, ignore_errors=True)
    say(f"{module.name}: done after {time.monotonic() - started:.0f} s")


def _definitions(program: Path, module: Module, folder: Path) -> None:
    """Copied, because Go's module cache may be cleaned."""
    if not module.source:
        return
    folder.mkdir()
    listing = [str(program), "list", "-m", "-f", "{{.Dir}}", module.source]
    root = Path(_run(listing, module, lambda text: None).strip())
    for pattern in module.crds:
        for path in sorted(root.glob(pattern)):
            (folder / path.name).write_bytes(path.read_bytes())
            slimmed(folder / path.name)


def _run(command: list[str], module: Module, say: Say) -> str:
    """What the command says on standard output; what it compiles is counted aloud from time to time."""
    said = 0
    last = time.monotonic()
    words: list[str] = []
    with subprocess.Popen(
        command,
        cwd=FOLDER / module.name,
        env=environment(Path(command[0])),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None, "pipes were asked for"
        for line in process.stderr:
            words = [*words[-20:], line.rstrip()]
            said += 1
            if time.monotonic() - last > _PROGRESS_S:
                last = time.monotonic()
                say(f"{module.name}: {said} modules and packages so far")
        output = process.stdout.read()
    if process.returncode:
        raise BuildError(f"{module.name} does not build: {' / '.join(words[-4:])}")
    return output


def _checksum(module: Module) -> str:
    folder = FOLDER / module.name
    files = sorted(path for path in folder.iterdir() if path.suffix in (".mod", ".sum", ".go"))
    parts = [path.read_bytes() for path in files]
    how = (_RECIPE, module.programs, module.links, module.crds, module.flags, *module.tags)
    parts += [repr(how).encode()]
    return sha256(b"\0".join(parts)).hexdigest()[:16]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two test runs of one checkout build once."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(names: list[str]) -> int:
    def say(text: str) -> None:
        print(text, flush=True)

    try:
        tools(names or tuple(MODULES), say)
        if not names:
            with _alone(cache()):
                examples.fetch(cache(), say)
    except (BuildError, NoGo, examples.NotFetched) as error:
        print(f"Kubernetes was not built: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
