"""While most of the fleet is silent nothing is given up: what would be called lost is looked at again later. Pure."""

from fairway.domain import decision
from fairway.domain.decision import NOTHING, Decision, Heard, Put, Step
from fairway.domain.silence import EVICTIONS
from fairway.watcher.missing import Emptied, Late, View
from fairway.wire import fleet
from fairway.wire import jobs as wire

# What would be given up is looked at again after this long (ms).
_LATER_MS = 5_000
# These come again by themselves.
_REPEATED = (Late, Emptied, fleet.Stranded)


def said_frozen(view: View) -> Decision:
    """Keeps where everybody finds it that evictions are frozen, or are no more."""
    rev = view.frozen_rev
    return Decision((Step((Put(decision.FREEZE, EVICTIONS, view.freeze, rev=rev + 1, expect=rev),)),))


def unfrozen(decided: Decision, heard: Heard) -> Decision:
    """The decision, if nothing is given up by it."""
    if not any(isinstance(say.message, wire.Lost) for step in decided.steps for say in step.events):
        return decided
    return NOTHING if isinstance(heard.message, _REPEATED) else Decision(again_in=_LATER_MS)
