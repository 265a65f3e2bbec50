"""The status of a Pod that the hub shows: the member's words, as far as they are true of a pod that is bound to no node
(Kubernetes, pkg/apis/core/validation ValidatePodStatusUpdate).

Addresses are left out: on the hub they are nobody's, or another pod's, and its Services and network policies would take
them for this one's. So is the node that a member has nominated, for which the hub's scheduler would keep room. The
class of service was given where the pod was made. A container that has ended does not run again but as another attempt:
of that the API server wants to be told first that the old one is gone.
"""

from typing import Any

from fairway.workloads.hub_status import Ends, StatusWord, condition, entries, turned, without

Json = dict[str, Any]
_TOLD = ("phase", "reason", "message", "startTime", "conditions", "initContainerStatuses", "containerStatuses")
_CONTAINERS = ("initContainerStatuses", "containerStatuses")
_SCHEDULED = "PodScheduled"
# `kubectl get` shows it in place of the phase.
_GATED = "SchedulingGated"


def shows(shown: Json, seen: Json) -> Json:
    status = {**without(shown, *_TOLD), **{name: seen[name] for name in _TOLD if name in seen}}
    return without(status, *(name for name in _CONTAINERS if _began_anew(shown.get(name), status.get(name))))


def _began_anew(before: Any, after: Any) -> bool:
    """Whether a container that had ended is said to run without having been started again."""
    ended = {str(one.get("name")): _restarts(one) for one in entries(before) if _over(one)}
    now = [one for one in entries(after) if str(one.get("name")) in ended and not _over(one)]
    return any(_restarts(one) <= ended[str(one.get("name"))] for one in now)


def _over(container: Json) -> bool:
    state = container.get("state")
    return isinstance(state, dict) and bool(state.get("terminated"))


def _restarts(container: Json) -> int:
    found = container.get("restartCount")
    return found if isinstance(found, int) else 0


def waits(shown: Json, word: StatusWord) -> Json:
    """As a pod that a gate keeps back, which it is."""
    why = StatusWord(_GATED, f"{word.code}: {word.text}", word.at)
    return {**without(shown, *_TOLD), "phase": "Pending", "conditions": [condition(_SCHEDULED, False, why)]}


def fails(shown: Json, word: StatusWord) -> Json:
    conditions = [one for one in entries(shown.get("conditions")) if one.get("type") != _SCHEDULED]
    over = {"phase": "Failed", "reason": word.code, "message": word.text}
    return {
        **without(shown, *_CONTAINERS),
        **over,
        "conditions": turned(conditions, word, Ready=False, ContainersReady=False),
    }


def untouched(shown: Json) -> bool:
    """Only the API server, which gates it, and Fairway have written there."""
    gated = [(one.get("type"), one.get("reason")) for one in entries(shown.get("conditions"))]
    return shown.get("phase") in (None, "", "Pending") and set(gated) <= {(_SCHEDULED, _GATED)}


# What takes back that it failed, as a merge patch: a pod is never without a phase.
ANEW: Json = {"phase": "Pending", "reason": None, "message": None, "conditions": None}
ENDS = Ends(waits, fails, shows, waits, untouched, ANEW)
