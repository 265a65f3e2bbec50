"""What an operator says of kinds, read once at the start of every process: kinds of their own, one YAML file each, and
the service accounts of those whose pods cannot do without a token."""

from pathlib import Path

from fairway.client.failure import USAGE, Failure
from fairway.wire.reasons import Refused
from fairway.workloads.kinds.generic import load_generic
from fairway.workloads.kinds.registry import declare, run_as
from fairway.workloads.reading.names import is_name


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


def run_all_as(accounts: str) -> None:
    """`Workflow=argo-workflow,SparkApplication=spark`: as what the pods of these kinds run when they name nothing."""
    for one in accounts.split(","):
        kind, _, account = one.strip().partition("=")
        try:
            if not is_name(account):
                raise ValueError(account)
            run_as(kind, account)
        except (KeyError, ValueError):
            text = f"FAIRWAY_OPERATOR_ACCOUNTS holds {one.strip()!r}"
            raise Failure(USAGE, text, "write Workflow=NAME,SparkApplication=NAME, or leave it unset") from None
