"""The order of the pipeline: the services that a job passes, in turn, and the doors before them."""

from fairway.wire.subjects import HUB, INBOUND, KEEPER, LOOPS, STAGES

__all__ = ["EVERYTHING", "HUB", "INBOUND", "KEEPER", "LOOPS", "MEMBER", "STAGES", "everything"]
# The doors before the pipeline, and its stages.
EVERYTHING = ("gateway", HUB, INBOUND, "agent", *STAGES)
# Beside a member in pull mode: its agent; the others act and watch through it.
MEMBER = "member"


def everything(manifests_kept: int) -> tuple[str, ...]:
    """With the keeper of manifests, where they are not kept for ever."""
    return (*EVERYTHING, KEEPER) if manifests_kept else EVERYTHING
