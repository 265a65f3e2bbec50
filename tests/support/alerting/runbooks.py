"""The pages of docs/runbooks: which commands each has its reader run, and what they say on a fleet.

A command stands in a block that begins with ```sh run. `$METRICS` in it is the address of the metrics port of the
process that an alert is about.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.alerting.rules import PAGES

_BLOCK = re.compile(r"^```sh run\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> dict[str, str]:
    """By the name of the alert."""
    return {path.stem: path.read_text("utf-8") for path in sorted(PAGES.glob("*.md")) if path.stem != "README"}


def commands(page: str) -> list[str]:
    """Without their comments."""
    lines = [line.partition(" #")[0].strip() for block in _BLOCK.findall(page) for line in block.splitlines()]
    return [line for line in lines if line]


def run(folder: Path, command: str, settings: Mapping[str, str]) -> str:
    """What a command says, on either of its outputs. `fairway` is that of this checkout."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    fairway = programs / "fairway"
    if not fairway.exists():
        fairway.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fairway.cli.main "$@"\n')
        fairway.chmod(0o700)
    path = os.pathsep.join((str(programs), os.environ.get("PATH", "")))
    environment = {**_clean(), "PATH": path, "COLUMNS": "200", "NO_COLOR": "1", **settings}
    shell = shutil.which("sh") or "sh"
    done = subprocess.run(
        [shell, "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("FAIRWAY", "KUBE"))}
