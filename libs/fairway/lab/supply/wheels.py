"""`python -m fairway.lab.supply.wheels`: writes the requirements with hashes that the image is installed from.

pip is asked what it would install on each platform that the image is built for, with the versions of constraints.txt.
No address of an index is written: the hash says which file it is, wherever it comes from.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from fairway.lab.supply.locked import Locked, Wheel, normalized, written

FOLDER = Path("deploy/image")
# Whose wheels are taken: of the image's Python, and of these machines with the C library of Debian.
PYTHON = "3.11"
MACHINES = ("aarch64", "x86_64")
# Of the C library: Debian 13 has 2.41, and wheels are made for 2.5 at the earliest.
_LIBC = range(41, 4, -1)


class NotAnswered(Exception):
    """pip could not say what it would install in the image; with its words."""


def files(root: Path) -> Iterator[tuple[str, str]]:
    """Both files: the name below deploy/image, and the text. Raises NotAnswered.

    Only where Linux and the image's Python run: pip weighs `python_version < "3.12"` and the like by its own.
    """
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if (here, sys.platform) != (PYTHON, "linux"):
        raise NotAnswered(f"this is Python {here} on {sys.platform}: make them with Python {PYTHON} on Linux")
    project = tomllib.loads((root / "pyproject.toml").read_text())
    for name, wanted, what in (
        ("requirements.txt", project["project"]["dependencies"], "runs in the image"),
        ("build-requirements.txt", project["build-system"]["requires"], "builds the wheel, and is not in the image"),
    ):
        head = (f"What {what}, with the wheels for {' and '.join(MACHINES)}: written by `make pins`",)
        yield name, written(head, _locked(root, wanted))


def _locked(root: Path, wanted: Sequence[str]) -> list[Locked]:
    found: dict[tuple[str, str], set[Wheel]] = {}
    for machine in MACHINES:
        for one in _asked(root, wanted, machine)["install"]:
            key = normalized(one["metadata"]["name"]), one["metadata"]["version"]
            download = one["download_info"]
            file = download["url"].rsplit("/", 1)[-1]
            found.setdefault(key, set()).add(Wheel(file, download["archive_info"]["hashes"]["sha256"]))
    return [Locked(name, version, tuple(sorted(wheels))) for (name, version), wheels in found.items()]


def _asked(root: Path, wanted: Sequence[str], machine: str) -> dict[str, Any]:
    """pip's report of what it would install there."""
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in _LIBC]
    platforms += [f"{old}_{machine}" for old in ("manylinux2014", "manylinux2010", "manylinux1", "linux")]
    target = ["--python-version", PYTHON, "--implementation", "cp", "--only-binary", ":all:", "--target", "unused"]
    options = ["--dry-run", "--ignore-installed", "--quiet", "--report", "-", "-c", "constraints.txt"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *options, *target]
    command += [word for platform in platforms for word in ("--platform", platform)]
    done = subprocess.run([*command, *wanted], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotAnswered(f"pip does not say what it would install for {machine}: {done.stderr.strip()[-500:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def write(root: Path) -> list[str]:
    """Writes both files; returns their paths below `root`."""
    made = dict(files(root))
    for name, text in made.items():
        (root / FOLDER / name).write_text(text, "utf-8")
    return [str(FOLDER / name) for name in made]


if __name__ == "__main__":
    typer.echo(f"wrote {' and '.join(write(Path()))}")
