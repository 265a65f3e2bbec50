"""What the hub shows of an AppWrapper while no member speaks: a phase, and conditions. What was made of its components
is no more."""

from functools import partial
from typing import Any

from fairway.workloads.hub_status import Ends, StatusWord, condition, entries, turned, without

Json = dict[str, Any]
_OF_WAITING = {"phase", "conditions"}


def _shown(phase: str, reason: str, shown: Json, word: StatusWord) -> Json:
    """`reason` is the condition in which its controller says why: it is not admitted, or not well."""
    over = turned(shown.get("conditions"), word, ResourcesDeployed=False, PodsReady=False, QuotaReserved=False)
    others = [one for one in over if one["type"] not in (reason, "Unhealthy")]
    told = condition(reason, reason == "Unhealthy", word)
    return {**without(shown, "componentStatus"), "phase": phase, "conditions": [*others, told]}


def _untouched(shown: Json) -> bool:
    types = [one.get("type") for one in entries(shown.get("conditions"))]
    return not shown or (shown.keys() == _OF_WAITING and shown["phase"] == "Suspended" and types == ["QuotaReserved"])


_waits = partial(_shown, "Suspended", "QuotaReserved")
ENDS = Ends(_waits, partial(_shown, "Failed", "Unhealthy"), queued=_waits, untouched=_untouched)
