"""The order of the pipeline: the services that a job passes, in turn, and the doors before them."""

from fairway.wire.flow import HUB, INBOUND, LOOPS, STAGES

__all__ = ["EVERYTHING", "HUB", "INBOUND", "LOOPS", "MEMBER", "STAGES"]
# The doors before the pipeline, and its stages.
EVERYTHING = ("gateway", HUB, INBOUND, "agent", *STAGES)
# Beside a member in pull mode: its agent; the others act and watch through it.
MEMBER = "member"
