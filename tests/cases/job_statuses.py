"""Changes of a batch Job's status as an API server judges them: `before` is what is there, `after` what is written, and
`refusal` a part of the server's sentence (empty: it is taken). Tried on real servers and on the simulator alike."""

from typing import Any, NamedTuple

Json = dict[str, Any]
START = "2026-11-21T10:00:00Z"
LATER = "2026-11-21T11:00:00Z"


class Change(NamedTuple):
    before: Json
    after: Json
    refusal: str = ""
    spec: Json | None = None


def on(*kinds: str, off: tuple[str, ...] = ()) -> list[Json]:
    return [{"type": kind, "status": "True" if kind not in off else "False", "reason": "R"} for kind in (*kinds, *off)]


def status(*kinds: str, **fields: Any) -> Json:
    """Started, with these conditions true."""
    return {"startTime": START, **({"conditions": on(*kinds)} if kinds else {}), **fields}


FAILED = status("FailureTarget", "Failed", failed=1)
DONE = status("SuccessCriteriaMet", "Complete", succeeded=1, completionTime=LATER)

CHANGES = {
    "it starts": Change({}, status(active=1, ready=0)),
    "it starts again at another time": Change(status(), {"startTime": LATER}, "startTime cannot be removed"),
    "its start is taken back": Change(status(), {"active": 1}, "startTime cannot be removed"),
    "a suspended job starts at another time": Change(status(), {"startTime": LATER}, spec={"suspend": True}),
    "it resumes at another time": Change(
        status("Suspended"), {"startTime": LATER, "conditions": on(off=("Suspended",))}
    ),
    "fewer have failed than before": Change(status(failed=2), status(failed=1), "cannot decrease the failed counter"),
    "fewer have succeeded": Change(status(succeeded=2), status(), "cannot decrease the succeeded counter"),
    "more are ready than active": Change(status(), status(active=1, ready=2), "more ready pods than active"),
    "less than nothing is active": Change(status(), status(active=-1), "greater than or equal to 0"),
    "it fails": Change(status(active=1), FAILED),
    "it fails without announcing it": Change(status(), status("Failed"), "without the FailureTarget"),
    "it fails and never started": Change({}, {"conditions": on("FailureTarget", "Failed")}, "startTime is required"),
    "it fails with an active pod": Change(status(), {**FAILED, "active": 1}, "active>0 is invalid"),
    "it fails with a pod on its way out": Change(status(), {**FAILED, "terminating": 1}, "terminating>0 is invalid"),
    "it fails with pods that are not counted": Change(
        status(), {**FAILED, "uncountedTerminatedPods": {"failed": ["u1"]}}, "must be empty for finished job"
    ),
    "it fails with a completion time": Change(
        status(), {**FAILED, "completionTime": LATER}, "no Complete=True condition"
    ),
    "it runs again after it failed": Change(FAILED, status(active=1, failed=1), "cannot disable the terminal"),
    "a failure that was announced is taken back": Change(
        status("FailureTarget"), status(active=1), "cannot disable the terminal FailureTarget"
    ),
    "a success that was announced is taken back": Change(
        status("SuccessCriteriaMet"), status(active=1), "cannot disable the SuccessCriteriaMet"
    ),
    "it completes": Change(status(active=1), DONE),
    "it completes without announcing it": Change(
        status(), status("Complete", completionTime=LATER), "without the SuccessCriteriaMet"
    ),
    "it completes at no time": Change(status(), status("SuccessCriteriaMet", "Complete"), "completionTime is required"),
    "it completes before it started": Change(
        {}, {**DONE, "startTime": LATER, "completionTime": START}, "must be equal to or after"
    ),
    "its completion moves": Change(DONE, {**DONE, "completionTime": START}, "field is immutable"),
    "it fails after it completed": Change(
        DONE,
        {**DONE, "conditions": on("SuccessCriteriaMet", "Complete", "FailureTarget", "Failed")},
        "Complete=True",
    ),
    "another condition comes to a completed one": Change(
        DONE, {**DONE, "conditions": [*on("SuccessCriteriaMet", "Complete"), *on("Seen")]}
    ),
}


def manifest(name: str, **spec: Any) -> Json:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}
    body = {"parallelism": 2, "completions": 2, "managedBy": "fairway.io/fleet", "template": {"spec": pod}, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": body}
