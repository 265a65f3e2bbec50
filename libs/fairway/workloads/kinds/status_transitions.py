"""The status of a batch/v1 Job that follows on another one, as an API server will have it (Kubernetes,
pkg/registry/batch/job/strategy.go and pkg/apis/batch/validation: since JobManagedBy it checks every change of a
status, whoever makes it).

- `startTime` stays once it is there, and an end needs one; `completionTime` comes with Complete, never before the start
- `failed` and `succeeded` never shrink: over several attempts they are the most that one of them had
- Failed and Complete stay, exclude each other, and need FailureTarget and SuccessCriteriaMet; those announce an end
  and cannot be taken back either, so they are not shown before it
- an end has nothing active, ready or terminating; never more ready than active
- pods that are not counted yet (`uncountedTerminatedPods`) are the member's own business
"""

from typing import Any

from fairway.workloads.hub_status import Ends, StatusWord, condition, suspended, without

Json = dict[str, Any]
_ANNOUNCED = {"Failed": "FailureTarget", "Complete": "SuccessCriteriaMet"}
_OF_PODS = ("active", "ready", "terminating", "uncountedTerminatedPods")


def _true(status: Json, kind: str) -> Json | None:
    for one in status.get("conditions") or ():
        if one.get("type") == kind and one.get("status") == "True":
            return dict(one)
    return None


def _end(status: Json) -> str:
    return next((kind for kind in _ANNOUNCED if _true(status, kind)), "")


def shows(shown: Json, seen: Json) -> Json:
    """What an API server that has `shown` takes for `seen`."""
    if _end(shown):
        return shown
    status = _grown(shown, without(seen, "uncountedTerminatedPods"))
    end = _end(seen)
    if end:
        return _ended(status, end)
    kept = [one for one in seen.get("conditions") or () if one.get("type") not in _ANNOUNCED.values()]
    if "ready" in status:
        status["ready"] = min(status["ready"] or 0, status.get("active") or 0)
    return {**without(status, "completionTime"), **({"conditions": kept} if "conditions" in status else {})}


def _grown(shown: Json, status: Json) -> Json:
    """With the start that is known, and with counts that are no less than before."""
    most = {name: max(shown.get(name) or 0, status.get(name) or 0) for name in ("failed", "succeeded")}
    status = {**status, **{name: count for name, count in most.items() if count}}
    start = shown.get("startTime") or status.get("startTime")
    return {**status, "startTime": start} if start else status


def _ended(status: Json, end: str) -> Json:
    entry = _true(status, end) or {}
    at = entry.get("lastTransitionTime") or status.get("completionTime") or status.get("startTime")
    start = status.get("startTime") or at
    other = next(_ANNOUNCED[kind] for kind in _ANNOUNCED if kind != end)
    conditions = [one for one in status.get("conditions") or () if one.get("type") != other]
    if not _true(status, _ANNOUNCED[end]):
        conditions = [{**entry, "type": _ANNOUNCED[end]}, *conditions]
    ended = {**without(status, *_OF_PODS, "completionTime"), "startTime": start, "conditions": conditions, "ready": 0}
    if end == "Complete":
        # Clocks of members differ, and the start may be that of an attempt elsewhere.
        ended["completionTime"] = max(status.get("completionTime") or at or "", start or "")
    return ended


def waits(shown: Json, word: StatusWord) -> Json:
    if _end(shown):
        return shown
    waiting = {**_grown(shown, {}), "active": 0, "ready": 0, "conditions": []}
    return suspended(waiting, word)


def fails(shown: Json, word: StatusWord) -> Json:
    if _end(shown):
        return shown
    status = {**without(shown, "completionTime"), "conditions": [condition("Failed", True, word)]}
    return _ended({**status, "startTime": shown.get("startTime") or word.at}, "Failed")


ENDS = Ends(waits, fails, shows, suspended)
