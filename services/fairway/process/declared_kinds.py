"""What an operator says of kinds, read once at the start of every process: kinds of their own, one YAML file each, the
service accounts of those whose pods cannot do without a token, and how a SparkApplication asks for batch resources."""

from pathlib import Path

from fairway.client.failure import USAGE, Failure
from fairway.wire.reasons import Refused
from fairway.workloads.kinds.generic import load_generic
from fairway.workloads.kinds.registry import declare, run_as, spark_on_batch_resources
from fairway.workloads.reading.names import OURS, is_label_key, is_name


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


def read_batch_annotations(names: str) -> None:
    """`example.com/colocation,...`: by each of these a SparkApplication says that it runs on batch resources."""
    found = tuple(one.strip() for one in names.split(","))
    for one in found:
        if not is_label_key(one) or one.startswith(OURS):
            text = f"FAIRWAY_BATCH_ANNOTATIONS holds {one[:80]!r}, which is no annotation of others"
            raise Failure(USAGE, text, "write names such as example.com/colocation, with commas, or leave it unset")
    spark_on_batch_resources(found)
