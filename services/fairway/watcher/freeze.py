"""While most of the fleet is silent nothing is given up: what would be called lost is looked at again later. Pure."""

from fairway.domain import decision
from fairway.domain.attempts.eviction_freeze import EVICTIONS
from fairway.domain.decision import NOTHING, Decision, Heard, Put, Step
from fairway.watcher.missing import Emptied, KnownSilence, Late
from fairway.wire import fleet
from fairway.wire import jobs as wire

# What would be given up is looked at again after this long (ms).
_LATER_MS = 5_000
# These come again by themselves.
_REPEATED = (Late, Emptied, fleet.Stranded)


def frozen_first(silence: KnownSilence, heard: Heard[object]) -> Decision | None:
    """Keeps where everybody finds it that evictions are frozen, or are no more; the next look is soon. None when that
    has not changed."""
    if not isinstance(heard.message, Late) or silence.freeze == silence.frozen:
        return None
    rev = silence.frozen_rev
    return Decision((Step((Put(decision.FREEZE, EVICTIONS, silence.freeze, rev=rev + 1, expect=rev),)),))


def held_back(silence: KnownSilence, heard: Heard[object], decided: Decision) -> Decision:
    """What was decided, or that it is looked at later, if it would give something up."""
    if not (silence.freeze or silence.frozen or silence.unsure) or not _gives_up(decided):
        return decided
    return NOTHING if isinstance(heard.message, _REPEATED) else Decision(again_in=_LATER_MS)


def _gives_up(decided: Decision) -> bool:
    return any(isinstance(say.message, wire.Lost) for step in decided.steps for say in step.events)
