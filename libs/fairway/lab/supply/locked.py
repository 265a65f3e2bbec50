"""A file of requirements with hashes, as pip reads it: every package in one version, with the wheels it may come in."""

import re
from collections.abc import Iterable

from msgspec import Struct

_REQUIREMENT = re.compile(r"^([\w.-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)
_WHEELS = re.compile(r"((?:^# \S+\.whl\n)+)(?=^[\w.-]+==)", re.MULTILINE)


class Wheel(Struct, frozen=True, order=True):
    """A file of a package, and the sha256 of its bytes."""

    file: str
    sha256: str


class Locked(Struct, frozen=True):
    """A package by its normalized name."""

    name: str
    version: str
    wheels: tuple[Wheel, ...]


def normalized(name: str) -> str:
    """As the index writes the name of a package, whoever wrote it how."""
    return re.sub(r"[-_.]+", "-", name).lower()


def written(head: Iterable[str], packages: Iterable[Locked]) -> str:
    """The file. Names of wheels are comments: pip compares the hashes alone."""
    lines = [f"# {one}" for one in head]
    for package in sorted(packages, key=lambda one: one.name):
        wheels = sorted(package.wheels)
        lines += [f"# {wheel.file}" for wheel in wheels]
        hashes = [f"    --hash=sha256:{wheel.sha256}" for wheel in wheels]
        lines.append(" \\\n".join((f"{package.name}=={package.version}", *hashes)))
    return "\n".join(lines) + "\n"


def read(text: str) -> dict[str, Locked]:
    """The packages of such a file by name. Raises ValueError for a line that is of no package."""
    files = [block.split("\n")[:-1] for block in _WHEELS.findall(text)]
    found = {}
    rest = text
    for (name, version, hashes), comments in zip(_REQUIREMENT.findall(text), files, strict=True):
        sums = re.findall(r"[0-9a-f]{64}", hashes)
        wheels = tuple(Wheel(file[2:], one) for file, one in zip(comments, sums, strict=True))
        found[name] = Locked(name, version, wheels)
        rest = rest.replace(f"{name}=={version}{hashes}", "")
    unread = [line for line in rest.splitlines() if line and not line.startswith("#")]
    if unread:
        raise ValueError(
            f"not a package with a version and hashes: {unread[0]!r}; write the file anew with `make pins`"
        )
    return found
