"""Whatever members show of a batch Job, attempt after attempt, an API server takes what the hub is to show for it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairway.lab.kubesim.api.job_status import faults
from fairway.workloads.hub_status import StatusWord
from fairway.workloads.kinds.status_transitions import fails, shows, waits

Json = dict[str, Any]
TIMES = [f"2026-11-21T10:00:0{second}Z" for second in range(4)]
WORD = StatusWord("JobFailed", "its pod failed", TIMES[2])
ENDS = {"": (), "Failed": ("FailureTarget", "Failed"), "Complete": ("SuccessCriteriaMet", "Complete")}
KINDS = ("Suspended", "FailureTarget", "SuccessCriteriaMet", "Failed", "Complete")
SPECS: tuple[Json, ...] = ({}, {"suspend": True}, {"completionMode": "Indexed", "completions": 2, "parallelism": 2})


@st.composite
def seen(draw: st.DrawFn) -> Json:
    """A member's status: of any Kubernetes, so an end may lack its announcement, and of any clock."""
    kinds = draw(st.sampled_from([*ENDS.values(), ("Failed",), ("Complete",), ("FailureTarget",), ("Suspended",)]))
    at = draw(st.sampled_from(TIMES))
    status: Json = {"conditions": [{"type": kind, "status": "True", "lastTransitionTime": at} for kind in kinds]}
    counts = draw(st.dictionaries(st.sampled_from(["active", "failed", "succeeded"]), st.integers(0, 3)))
    status |= {**counts, "ready": draw(st.integers(0, counts.get("active", 0)))}
    if draw(st.booleans()):
        status["startTime"] = draw(st.sampled_from(TIMES))
    if "Complete" in kinds and draw(st.booleans()):
        status["completionTime"] = at
    if draw(st.booleans()):
        status["uncountedTerminatedPods"] = {"failed": ["u1"]}
    return status


STEPS = st.lists(st.one_of(seen(), st.sampled_from(["waits", "fails"])), max_size=8)


def next_of(shown: Json, step: Json | str) -> Json:
    if isinstance(step, dict):
        return shows(shown, step)
    return waits(shown, WORD) if step == "waits" else fails(shown, WORD)


@given(STEPS, st.sampled_from(SPECS))
def test_it_is_always_legal(steps: list[Json | str], spec: Json) -> None:
    shown: Json = {}
    for step in steps:
        after = next_of(shown, step)
        assert not faults({"spec": spec, "status": shown}, {"spec": spec, "status": after}), (shown, step, after)
        shown = after


@given(STEPS, seen())
def test_an_end_is_shown_as_that_end_and_stays(steps: list[Json | str], last: Json) -> None:
    shown: Json = {}
    for step in steps:
        shown = next_of(shown, step)
    over = next((one for one in ("Failed", "Complete") if has(shown, one)), "")
    after = shows(shown, last)
    for end in ("Failed", "Complete"):
        assert has(after, end) == (end == over if over else has(last, end))


def has(status: Json, kind: str) -> bool:
    return any(one["type"] == kind and one["status"] == "True" for one in status.get("conditions", ()))
