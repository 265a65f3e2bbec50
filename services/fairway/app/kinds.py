"""Kinds that an operator declares: one YAML file each, read once at the start of every process."""

from pathlib import Path

from fairway.app.failure import USAGE, Failure
from fairway.wire.reasons import Refused
from fairway.workloads.generic import load_generic
from fairway.workloads.registry import declare


def declare_all(folder: Path) -> None:
    """Declares every `*.yaml` of the folder. Failure names the file that is wrong: to start without a kind would be
    to refuse its jobs."""
    if not folder.is_dir():
        raise Failure(USAGE, f"FAIRWAY_KINDS_DIR is {folder}, which is no folder", "name one, or leave it unset")
    for path in sorted(folder.glob("*.yaml")):
        try:
            declare(load_generic(path.read_bytes()))
        except (Refused, ValueError, OSError) as error:
            raise Failure(USAGE, f"{path}: {error}", "correct it, or take it out of FAIRWAY_KINDS_DIR") from None
