"""What an API server refuses in the status of a batch/v1 Job, whoever writes it (Kubernetes 1.34,
pkg/registry/batch/job/strategy.go getStatusValidationOptions, pkg/apis/batch/validation validateJobStatus): most rules
hold only for what the change touches."""

from typing import Any

from fairway.lab.kubesim.api.errors import Json

Fault = tuple[str, str]
_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_ENDS = ("Failed", "Complete", "FailureTarget")
_STAYING = (*_ENDS, "SuccessCriteriaMet")
_CONDITIONS = "status.conditions"


def faults(old: Json, new: Json) -> list[Fault]:
    """(field, message) of everything that is wrong with the change of the Job's status."""
    before = old.get("status") or {}
    after = new.get("status") or {}
    spec = new.get("spec") or {}
    return [
        *(_negative(after)),
        *(_conditions(before, after)),
        *(_counters(before, after, spec)),
        *(_times(before, after, bool(spec.get("suspend")))),
        *(_finished(before, after)),
    ]


def _is(status: Json, kind: str, value: str = "True") -> bool:
    return any(one.get("type") == kind and one.get("status") == value for one in status.get("conditions") or ())


def _over(status: Json) -> bool:
    return _is(status, "Complete") or _is(status, "Failed")


def _number(status: Json, name: str) -> int:
    found = status.get(name)
    return found if isinstance(found, int) else 0


def _changed(before: Json, after: Json, name: str) -> bool:
    empty: dict[str, Any] = {"active": 0}
    return bool((before.get(name) or empty.get(name)) != (after.get(name) or empty.get(name)))


def _negative(after: Json) -> list[Fault]:
    text = "Invalid value: must be greater than or equal to 0"
    return [(f"status.{name}", text) for name in _COUNTS if _number(after, name) < 0]


def _conditions(before: Json, after: Json) -> list[Fault]:
    found = [
        f"cannot disable the {'terminal ' if kind in _ENDS else ''}{kind}=True condition"
        for kind in _STAYING
        if _is(before, kind) and not _is(after, kind)
    ]
    complete = _is(after, "Complete")
    failed = _is(after, "Failed")
    target = _is(after, "FailureTarget")
    met = _is(after, "SuccessCriteriaMet")
    touched = any(_is(before, kind) != _is(after, kind) for kind in _STAYING)
    if touched:
        rules = (
            (complete and failed, "cannot set Complete=True and Failed=true conditions"),
            (complete and target, "cannot set Complete=True and FailureTarget=true conditions"),
            (failed and not target, "cannot set Failed=True condition without the FailureTarget=true condition"),
            (complete and not met, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"),
        )
        found += [text for broken, text in rules if broken]
    found += ["cannot set SuccessCriteriaMet=True and Failed=true conditions"] if met and failed else []
    found += ["cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"] if met and target else []
    return [(_CONDITIONS, f"Invalid value: {text}") for text in found]


def _counters(before: Json, after: Json, spec: Json) -> list[Fault]:
    found: list[Fault] = []
    scales = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    for name in ("failed",) if scales else ("failed", "succeeded"):
        if _number(after, name) < _number(before, name):
            found.append((f"status.{name}", f"Invalid value: cannot decrease the {name} counter"))
    touched = _changed(before, after, "ready") or _changed(before, after, "active")
    if touched and _number(after, "ready") > _number(after, "active"):
        found.append(("status.ready", "Invalid value: cannot set more ready pods than active"))
    return found


def _times(before: Json, after: Json, suspended: bool) -> list[Fault]:
    found: list[Fault] = []
    start = after.get("startTime")
    completion = after.get("completionTime")
    resumes = _is(before, "Suspended") and _is(after, "Suspended", "False")
    if before.get("startTime") and start != before["startTime"] and not suspended and not resumes:
        found.append(("status.startTime", "Required value: startTime cannot be removed for unsuspended job"))
    if completion and before.get("completionTime") and completion != before["completionTime"]:
        found.append(("status.completionTime", "Invalid value: field is immutable"))
    touched = _changed(before, after, "completionTime") or _is(before, "Complete") != _is(after, "Complete")
    if touched and completion and not _is(after, "Complete"):
        text = "Invalid value: cannot set completionTime when there is no Complete=True condition"
        found.append(("status.completionTime", text))
    if touched and not completion and _is(after, "Complete"):
        found.append(("status.completionTime", "Required value: completionTime is required for Complete jobs"))
    moved = _changed(before, after, "completionTime") or _changed(before, after, "startTime")
    if moved and start and completion and completion < start:
        found.append(("status.completionTime", "Invalid value: must be equal to or after `startTime`"))
    return found


def _finished(before: Json, after: Json) -> list[Fault]:
    if not _over(after):
        return []
    found: list[Fault] = []
    ends = not _over(before)
    for name in ("active", "terminating"):
        if _number(after, name) and (ends or _changed(before, after, name)):
            found.append((f"status.{name}", f"Invalid value: {name}>0 is invalid for finished job"))
    if not after.get("startTime") and (ends or _changed(before, after, "startTime")):
        found.append(("status.startTime", "Required value: startTime is required for finished job"))
    uncounted = after.get("uncountedTerminatedPods") or {}
    if any(uncounted.values()) and (ends or _changed(before, after, "uncountedTerminatedPods")):
        found.append(("status.uncountedTerminatedPods", "Invalid value: must be empty for finished job"))
    return found
