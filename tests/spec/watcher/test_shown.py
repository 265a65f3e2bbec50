"""watcher: which status of a member's object the hub is told, and how: in the event that it leads to, or by itself."""

from typing import Any

import msgspec
import pytest

from fairway.domain.decision import JOBS, Call, Decision, Heard, Outcome
from fairway.domain.events import row_of
from fairway.domain.fold import fold
from fairway.watcher.decide import decide
from fairway.watcher.edits import Edit
from fairway.watcher.object_checks import COMPARE, ObjectDoubt
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet, Workload
from tests.spec.builders.lives import T0, Life, S, dispatched, failing, placed, reserved, running, spec
from tests.spec.builders.views import events, of, told
from tests.spec.watcher.test_decide import second, shows

Json = dict[str, Any]
NOW = T0 + 900 * S
HUB: dict[str, Any] = {"hub": wire.HubRef("h-1", "pytorchjobs")}
STOP = Reason(Code.CANCELLED, "cancelled by ann")
DOUBT = ObjectDoubt("m1")
OURS = Outcome(Call(COMPARE, "c1", "llm-1", 1), True, body=())
EDITED = Outcome(Call(COMPARE, "c1", "llm-1", 1), True, body=(Edit("spec.x", "kubectl-edit"),))
KB = 1 << 10


def at(version: str, seen: Heard[Any], **status: Any) -> Heard[Any]:
    """The same sight in this version, whose status says this as well."""
    shown = seen.message.manifest
    meta = {**shown["metadata"], "resourceVersion": version}
    manifest = {**shown, "metadata": meta, "status": {**shown["status"], **status}}
    return told(msgspec.structs.replace(seen.message, manifest=manifest), outcomes=seen.outcomes)


def sized(seen: Heard[Any], size: int) -> Heard[Any]:
    return at("7", seen, logs="x" * size)


def answered(seen: Heard[Any], answer: Outcome) -> Heard[Any]:
    return told(seen.message, outcomes=(answer,))


def said(decision: Decision) -> list[str]:
    """What is said, with `+` behind what carries a status."""
    return [one.verb + "+" * bool(getattr(one, "status", None)) for one in events(decision)]


def succeeded() -> Life:
    return running(**HUB).then(wire.Succeeded, cluster="c1")


def failed() -> Life:
    return running(**HUB).then(wire.Failed, cluster="c1", why=STOP, final=True)


SAID = {
    "a status, while nothing follows from it": (dispatched(**HUB), shows("Running"), ["shown+"]),
    "before its dispatch is known": (reserved(**HUB), shows("Created"), ["shown+"]),
    "up, and known to run": (running(**HUB), shows("Up"), ["shown+"]),
    "the gang is up, which is said with it": (dispatched(**HUB), shows("Up"), ["running+"]),
    "an end, likewise": (running(**HUB), shows("Succeeded"), ["succeeded+"]),
    "a failed attempt, which is no end": (running(**HUB), shows("Failed"), ["failed+", "recall", "queue"]),
    "the last attempt failed": (running(attempts=1, **HUB), shows("Failed"), ["failed+"]),
    "the last pods of a job that succeeded": (succeeded(), shows("Succeeded"), ["shown+"]),
    "the last pods of a job that failed": (failed(), shows("Failed"), ["shown+"]),
    "it did not come from a hub": (dispatched(), shows("Running"), []),
    "nor did that which runs": (dispatched(), shows("Up"), ["running"]),
    "no status yet": (dispatched(**HUB), shows(), []),
    "up before its dispatch is known: then": (reserved(**HUB), shows("Up"), []),
    "an attempt before": (second(running(**HUB)), shows("Running"), ["recall"]),
    "in another cluster": (running(**HUB), shows("Running", cluster="c2"), []),
    "not placed there yet": (placed(**HUB), shows("Running"), []),
    "back in its queue": (failing(running(**HUB)), shows("Running"), []),
    "being taken out": (running(**HUB).then(wire.Recall, cluster="c1", why=STOP), shows("Running"), []),
    "succeeded while it is cancelled": (running(**HUB).then(wire.Recall, cluster="", why=STOP), shows("Succeeded"), []),
    "cancelled": (running(**HUB).then(wire.Cancelled), shows("Succeeded"), ["recall"]),
    "another object of that name": (running(**HUB), shows("Running", uid="u-evil"), []),
    "another object of that name, after the end": (succeeded(), shows("Succeeded", uid="u-evil"), []),
    "deleted by somebody": (running(**HUB), shows("Running", gone=True), ["lost", "recall", "queue"]),
    "another end than the job's": (succeeded(), shows("Failed"), []),
    "no end any more": (succeeded(), shows("Running"), []),
    "somebody wrote to its spec": (running(**HUB), shows("Running", doubt=DOUBT), []),
    "it was found to be ours": (running(**HUB), answered(shows("Running", doubt=DOUBT), OURS), ["shown+"]),
    "it was edited": (
        running(**HUB),
        answered(shows("Running", doubt=DOUBT), EDITED),
        ["lost", "recall", "queue"],
    ),
    "too large for the record, so beside it": (
        running(**HUB),
        sized(shows("Succeeded"), 65 * KB),
        ["succeeded", "shown+"],
    ),
    "a failure too large for the record": (
        running(**HUB),
        sized(shows("Failed"), 65 * KB),
        ["failed", "recall", "queue", "shown+"],
    ),
    "large, but said by itself": (running(**HUB), sized(shows("Running"), 511 * KB), ["shown+"]),
    "too large for the bus": (running(**HUB), sized(shows("Running"), 512 * KB), []),
    "too large for the bus, at the end": (running(**HUB), sized(shows("Succeeded"), 512 * KB), ["succeeded"]),
}


@pytest.mark.parametrize(("life", "seen", "want"), SAID.values(), ids=list(SAID))
def test_what_is_said_of_a_status(life: Life, seen: Any, want: list[str]) -> None:
    assert said(decide(of(life), seen, NOW)) == want


def test_what_is_said_is_the_status_with_its_place_and_its_version() -> None:
    seen = at("41", shows("Running"))
    (step,) = decide(of(running(**HUB)), seen, NOW).steps
    (say,) = step.events
    head = {"job": "llm-1", "tenant": "team-a", "attempt": 1, "cluster": "c1"}
    assert say.message == fleet.Shown(at=NOW, version="41", status=seen.message.manifest["status"], **head)
    assert (say.subject, step.writes) == (subjects.shown("team-a"), ())


@pytest.mark.parametrize(("life", "state"), [(dispatched(**HUB), "Up"), (running(**HUB), "Succeeded")])
def test_an_event_carries_what_led_to_it_and_the_job_does_not(life: Life, state: str) -> None:
    decision = decide(of(life), shows(state), NOW)
    (event,) = events(decision)
    assert event.status == shows(state).message.manifest["status"]
    (row,) = [one.value for one in decision.steps[0].writes if one.table == JOBS]
    assert row == row_of(fold(life.now, msgspec.structs.replace(event, status={})))


def test_two_watchers_say_the_same_under_one_id() -> None:
    """What each has heard has an id of its own."""
    life = running(**HUB)
    ids = [
        decide(of(life), msgspec.structs.replace(seen, id=watcher), now).steps[0].events[0].id
        for watcher, now, seen in [
            ("w1", NOW, at("41", shows("Running"))),
            ("w2", NOW + 7, at("41", shows("Running"))),
            ("w1", NOW, at("42", shows("Running"))),
        ]
    ]
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize(
    ("other", "changed"),
    [
        pytest.param(shows("Running", uid="u-8"), {"uid": "u-8"}, id="of another object"),
        pytest.param(at("", shows("Running"), x=1), {}, id="of one that has no version"),
    ],
)
def test_another_status_has_another_id(other: Heard[Any], changed: Json) -> None:
    before = decide(of(dispatched(**HUB)), at("", shows("Running")), NOW).steps[0].events[0].id
    assert decide(of(dispatched(**HUB, **changed)), at("", other), NOW).steps[0].events[0].id != before


def batch_job() -> Life:
    """A kind whose status stays what it is at the end."""
    work = Workload("batch/v1", "Job", "team-a", "llm", (PodSet("pod", 1, {}),), 1)
    life = running(**HUB)
    life.job = msgspec.structs.replace(life.now, spec=msgspec.structs.replace(spec(**HUB), workload=work))
    return life


def test_of_a_batch_job_nothing_is_said_after_its_end() -> None:
    meta = {"name": "llm", "uid": "u-9"}
    done = [{"type": "Complete", "status": "True"}]
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "status": {"succeeded": 1, "conditions": done}}
    seen = told(msgspec.structs.replace(shows().message, kind="Job.batch/v1", manifest=body))
    assert said(decide(of(batch_job()), seen, NOW)) == ["succeeded+"]
    assert said(decide(of(batch_job().then(wire.Succeeded, cluster="c1")), seen, NOW)) == []
