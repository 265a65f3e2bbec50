"""watcher: what a cluster shows, and what it means for the attempt that is there."""

from typing import Any

import pytest

from fairway.domain.decision import NOTHING, Call, Decision, Outcome
from fairway.watcher.decide import Late, Listed, decide
from fairway.watcher.edits import Edit
from fairway.watcher.missing import Down
from fairway.watcher.object_checks import COMPARE, GONE, LOOK, STRIPPED, THERE, ObjectDoubt
from fairway.watcher.object_owner import Observed
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import SLOTS, T0, Life, S, dispatched, failing, placed, queued, reserved, running
from tests.spec.builders.views import events, of, told, verbs

NOW = T0 + 900 * S
STOP = Reason(Code.CANCELLED, "cancelled by ann")
KIND = "PyTorchJob.kubeflow.org/v1"


def shows(what: str = "", attempt: int = 1, cluster: str = "c1", gone: bool = False, **more: Any) -> Any:
    """A PyTorchJob of 4 workers whose status has this condition; `Up` also that all are active. `answer` is what a
    closer look brought: when it seems to be gone, that it is."""
    status: dict[str, Any] = {}
    if what:
        name = "Running" if what == "Up" else what
        status["conditions"] = [{"type": name, "status": "True", "message": "as it says"}]
        status["replicaStatuses"] = {"Worker": {"active": 4 if what == "Up" else 0}}
    meta = {"name": "llm", "uid": more.pop("uid", "u-9")}
    body = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": meta, "status": status}
    head = {"job": "llm-1", "tenant": "team-a", "attempt": attempt, "cluster": cluster}
    answer = more.pop("answer", GONE if gone else None)
    answers = () if answer is None else (Outcome(Call("ask", cluster, "llm-1", attempt), True, body=answer),)
    more = {"sealed": ("llm-1", attempt), **more}
    return told(Observed(**head, kind=more.pop("kind", KIND), manifest=body, gone=gone, **more), outcomes=answers)


def second(life: Life) -> Life:
    """Attempt 2 is reserved in c2 after nothing of the first was left."""
    failing(life).then(wire.Removed, cluster="c1", attempt=1).then(wire.Dequeued)
    life.then(wire.Placed, cluster="c2", slots=SLOTS)
    return life.then(wire.Reserved, cluster="c2", slots=SLOTS, expires_at=0)


SEEN = {
    "nothing yet": (dispatched(), shows(), []),
    "the gang is up": (dispatched(), shows("Up"), ["running"]),
    "only a part of the gang is up": (dispatched(), shows("Running"), []),
    "up, said again": (running(), shows("Up"), []),
    "succeeded": (running(), shows("Succeeded"), ["succeeded"]),
    "succeeded before anybody saw it run": (dispatched(), shows("Succeeded"), ["succeeded"]),
    "failed": (running(), shows("Failed"), ["failed", "recall", "queue"]),
    "failed with the last attempt": (running(attempts=1), shows("Failed"), ["failed"]),
    "deleted by somebody": (running(), shows("Up", gone=True), ["lost", "recall", "queue"]),
    "deleted by somebody, the last attempt": (running(attempts=1), shows(gone=True), ["lost", "recall"]),
    "failed after its end": (running().then(wire.Succeeded, cluster="c1"), shows("Failed"), []),
    "gone after its end": (running().then(wire.Succeeded, cluster="c1"), shows(gone=True), []),
    "running after its end is over": (running().then(wire.Cancelled), shows("Up"), ["recall"]),
    "finished and left to be looked at": (
        running(attempts=1).then(wire.Failed, cluster="c1", why=STOP, final=True),
        shows("Failed"),
        [],
    ),
    "started after it was given up": (
        dispatched(attempts=1).then(wire.Lost, cluster="c1", why=STOP, final=True),
        shows("Up"),
        ["recall"],
    ),
    "being removed": (running().then(wire.Recall, cluster="c1", why=STOP), shows("Failed"), []),
    "removed, as was asked": (running().then(wire.Recall, cluster="c1", why=STOP), shows(gone=True), []),
    "an old attempt that is being removed": (failing(running()), shows("Failed"), []),
    "an old attempt that turned up again": (second(running()), shows("Up"), ["recall"]),
    "an object that it made itself, of another kind": (running(), shows("Failed", kind="Job.batch/v1"), []),
    "an old attempt that went": (second(running()), shows(gone=True), []),
    "an attempt that is to come": (running(), shows("Up", attempt=2), []),
    "the right attempt in another cluster": (running(), shows("Failed", cluster="c2"), []),
    "a waiting job": (queued(), shows("Up", attempt=1), []),
    "a placed job": (placed(), shows("Up", attempt=1), []),
    "just made, before its dispatch was known": (reserved(), shows(), []),
}


@pytest.mark.parametrize(("life", "seen", "want"), SEEN.values(), ids=list(SEEN))
def test_what_it_means(life: Life, seen: Any, want: list[str]) -> None:
    decision = decide(of(life), seen, NOW)
    assert (verbs(decision), decision.again_in) == (want, None)


def test_a_job_that_nobody_knows_is_left_alone() -> None:
    assert decide(of(), shows("Up"), NOW) == NOTHING


@pytest.mark.parametrize(
    "seen", [shows("Up"), shows("Failed"), shows(doubt=ObjectDoubt("m1"))], ids=["up", "over", "edited"]
)
def test_what_is_seen_before_its_dispatch_is_known_is_looked_at_again_soon(seen: Any) -> None:
    assert decide(of(reserved()), seen, NOW) == Decision(again_in=100)


def test_a_second_stray_waits_for_the_removal_of_the_first() -> None:
    life = second(running()).then(wire.Recall, cluster="c3", attempt=0, why=STOP)
    assert decide(of(life), shows("Up"), NOW) == Decision(again_in=1_000)


def test_a_failed_attempt_goes_back_with_the_next_number_and_its_first_enqueue_time() -> None:
    life = running()
    failed, recall, queue = events(decide(of(life), shows("Failed"), NOW))
    assert (failed.attempt, failed.cluster, failed.final) == (1, "c1", False)
    assert (recall.attempt, recall.cluster) == (1, "c1")
    assert (queue.attempt, queue.enqueued_at, queue.queue) == (2, T0 + S, "gold")
    assert queue.why.code is Code.WAITING_FOR_REMOVAL
    assert [failed.rev, recall.rev, queue.rev] == [life.now.rev + 1, life.now.rev + 2, life.now.rev + 3]


def test_the_last_attempt_says_that_it_was_the_last() -> None:
    (said,) = events(decide(of(running(attempts=1)), shows("Failed"), NOW))
    assert said.final
    assert "attempt 1 of 1; no attempts left" in said.why.text


LATE = {
    "not running in time": (dispatched(start_timeout=60 * S), ["lost", "recall", "queue"]),
    "still in time": (dispatched(start_timeout=3_600 * S), []),
    "running": (running(start_timeout=60 * S), []),
    "being removed": (dispatched(start_timeout=60 * S).then(wire.Recall, cluster="c1", why=STOP), []),
    "back in its queue": (failing(dispatched(start_timeout=60 * S)), []),
}


@pytest.mark.parametrize(("life", "want"), LATE.values(), ids=list(LATE))
def test_the_start_has_a_deadline(life: Life, want: list[str]) -> None:
    assert verbs(decide(of(life, overdue=["llm-1", "unknown"]), told(Late()), NOW)) == want


def test_a_deadline_says_how_long_it_waited_and_for_what() -> None:
    life = dispatched(start_timeout=60 * S)
    said = events(decide(of(life, overdue=["llm-1"]), told(Late()), life.at + 61 * S))[0]
    assert said.why.text == "not running in c1 after 61 s; its gang needs 32 nvidia.com/gpu"


def listed(*keys: str, kind: str = KIND, cluster: str = "c1", answer: str = GONE) -> Any:
    """The list, and what a closer look at llm-1 brought."""
    looked = Outcome(Call(LOOK, cluster, "llm-1", 1), True, body=answer)
    return told(Listed(cluster=cluster, kind=kind, keys=frozenset(f"{key} u-9" for key in keys)), outcomes=(looked,))


LISTS = {
    "it is there": (running(), listed("llm-1/1"), []),
    "it is not there": (running(), listed(), ["lost", "recall", "queue"]),
    "it came between the list and a closer look": (running(), listed(answer=THERE), []),
    "it is there without its labels": (running(), listed(answer=STRIPPED), ["lost", "recall", "queue"]),
    "only another attempt of it is there": (running(), listed("llm-1/9"), ["lost", "recall", "queue"]),
    "a list of another kind": (running(), listed(kind="Job.batch/v1"), []),
    "a list of another cluster": (running(), listed(cluster="c2"), []),
    "not applied yet": (reserved(), listed(), []),
    "being removed": (running().then(wire.Recall, cluster="c1", why=STOP), listed(), []),
    "ended": (running().then(wire.Succeeded, cluster="c1"), listed(), []),
}


@pytest.mark.parametrize(("life", "seen", "want"), LISTS.values(), ids=list(LISTS))
def test_after_a_gap_what_is_not_there_was_deleted(life: Life, seen: Any, want: list[str]) -> None:
    assert verbs(decide(of(life, held={"c1": {"llm-1", "unknown"}}), seen, NOW)) == want


@pytest.mark.parametrize(
    ("life", "after", "want"),
    [
        pytest.param(dispatched(), 4, [], id="applied a moment ago: the list may be older"),
        pytest.param(dispatched(), 6, ["lost", "recall", "queue"], id="applied before"),
        pytest.param(running(), 4, ["lost", "recall", "queue"], id="began to run a moment ago: it was seen before"),
    ],
)
def test_what_was_applied_a_moment_ago_may_be_missing_from_a_list(life: Life, after: int, want: list[str]) -> None:
    assert verbs(decide(of(life, held={"c1": {"llm-1"}}), listed(), life.at + after * S)) == want


def test_what_seems_to_be_gone_is_looked_for_before_anything_is_said() -> None:
    gone = shows("Up", gone=True, answer=False)
    asked = decide(of(running()), told(gone.message), NOW)
    assert ([call.verb for call in asked.calls], asked.steps) == ([LOOK], ())
    missing = decide(of(running(), held={"c1": {"llm-1"}}), told(listed().message), NOW)
    assert ([(call.verb, call.job) for call in missing.calls], missing.steps) == ([(LOOK, "llm-1")], ())


def test_what_cannot_be_looked_at_is_looked_at_again() -> None:
    unknown = Outcome(Call(LOOK, "c1", "llm-1", 1), False, "", "c1 does not answer")
    for message in (shows(gone=True).message, listed().message):
        view = of(running(), held={"c1": {"llm-1"}})
        assert decide(view, told(message, outcomes=(unknown,)), NOW) == Decision(again_in=1_000)


DOUBT = ObjectDoubt("m1")
EDIT = (Edit("spec.replicas", "kubectl-edit"),)
EDITED = {
    "somebody else changed a field of ours": (shows("Up", doubt=DOUBT, answer=EDIT), ["lost", "recall", "queue"]),
    "nobody did": (shows("Up", doubt=DOUBT, answer=()), []),
    "it has failed meanwhile": (shows("Failed", doubt=DOUBT), ["failed", "recall", "queue"]),
    "it has succeeded meanwhile": (shows("Succeeded", doubt=DOUBT), ["succeeded"]),
    "its labels were taken off": (shows(gone=True, answer=STRIPPED), ["lost", "recall", "queue"]),
}


@pytest.mark.parametrize(("seen", "want"), EDITED.values(), ids=list(EDITED))
def test_what_was_edited_by_hand_is_another_job(seen: Any, want: list[str]) -> None:
    assert verbs(decide(of(running()), seen, NOW)) == want


def test_an_edit_is_told_with_its_place_and_who_made_it() -> None:
    asked = decide(of(running()), told(shows("Up", doubt=DOUBT).message), NOW)
    assert [call.verb for call in asked.calls] == [COMPARE]
    said = events(decide(of(running()), shows("Up", doubt=DOUBT, answer=EDIT), NOW))[0]
    assert (said.why.code, said.final) == (Code.EDITED, False)
    assert said.why.text.startswith("spec.replicas was changed in c1 by kubectl-edit")


DOWN = {
    "for as long as a start may take": (running(start_timeout=60 * S), 61, ["lost", "recall", "queue"]),
    "for a moment": (running(start_timeout=60 * S), 59, []),
    "while it is being removed": (
        running(start_timeout=60 * S).then(wire.Recall, cluster="c1", why=STOP),
        61,
        [],
    ),
}


@pytest.mark.parametrize(("life", "after", "want"), DOWN.values(), ids=list(DOWN))
def test_a_gang_that_is_no_longer_up_may_come_up_again(life: Life, after: int, want: list[str]) -> None:
    view = of(life, overdue=["llm-1"], down={"llm-1": Down(1, life.at, "3 of 4 pods are up")})
    decision = decide(view, told(Late()), life.at + after * S)
    assert verbs(decision) == want
    if want:
        assert events(decision)[0].why.text == "no longer up in c1 for 61 s: 3 of 4 pods are up"


@pytest.mark.parametrize(("gang", "want"), [(4, ["lost", "recall", "queue"]), (8, [])], ids=["its own", "of before"])
def test_a_gang_that_was_made_smaller_is_not_measured_by_what_it_was(gang: int, want: list[str]) -> None:
    life = running()
    view = of(life, overdue=["llm-1"], down={"llm-1": Down(1, life.at, "4 of 8 pods are up", gang)})
    assert verbs(decide(view, told(Late()), life.at + 1_000 * S)) == want
