"""What `kubectl describe` tells of a job: one event for each message that matters, in words, within limits."""

from typing import Any

import pytest

from fairway.hub.telling.events import Note, manifest_of, note_on
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import (
    RECLAIMED,
    Life,
    back,
    dequeued,
    dispatched,
    failing,
    nominated,
    place,
    queued,
    running,
)
from tests.spec.hub.hub_objects import job

HUB = wire.HubRef("u-1", "pytorchjobs")


def last(life: Life) -> Note | None:
    return note_on(life.now, life.said[-1][1], "cause")


def no_room() -> Life:
    return back(dequeued(hub=HUB), Code.WAITING_FOR_ROOM, "none of 3 clusters can take it now")


def blocked() -> Life:
    return queued(hub=HUB).then(wire.Blocked, why=Reason(Code.WAITING_FOR_QUOTA, "quota root/a is full"))


def room_kept() -> Life:
    return nominated(no_room())


def in_vain(code: Code) -> Life:
    why = Reason(code, "needs 4 pods of 8 nvidia.com/gpu; 2 of its 4 pods would have no room")
    return no_room().then(wire.Unclaimed, claim=1, why=why)


def made_room() -> Life:
    why = {"why": RECLAIMED, "claim": "claim-7f3a", "right": Cause.RECLAIM}
    return running(hub=HUB).then(wire.Evicted, cluster="c1", **why)


WAY = "Dispatched to c1: 4 pods on 2 nodes; queue gold; quota root/a; 5 s after submission."


@pytest.mark.parametrize(
    ("life", "reason", "words", "warning"),
    [
        pytest.param(queued(hub=HUB), "Queued", "Waits its turn in queue gold", False, id="queued"),
        pytest.param(blocked(), "WaitingForQuota", "quota root/a is full", True, id="blocked: what it lacks"),
        pytest.param(no_room(), "WaitingForRoom", "none of 3 clusters", True, id="back in its queue: what it lacks"),
        pytest.param(place(dequeued(hub=HUB), "c1"), "Placed", "Placed in c1: 4 pods on 2 nodes", False, id="placed"),
        pytest.param(dispatched(hub=HUB), "Dispatched", WAY, False, id="dispatched: the whole way there"),
        pytest.param(room_kept(), "Nominated", "3 attempts must leave first", False, id="room is kept for it"),
        pytest.param(
            in_vain(Code.NO_VICTIMS), "NoVictims", "2 of its 4 pods would have no room", True, id="nobody leaves"
        ),
        pytest.param(in_vain(Code.CLAIM_EXPIRED), "ClaimExpired", "Claim 1 is over", True, id="they left too late"),
        pytest.param(made_room(), "Evicted", "a job of quota root/b", True, id="evicted: for whose share"),
        pytest.param(running(hub=HUB), "Running", "4 of 4 pods are up", False, id="running"),
    ],
)
def test_the_object_is_told(life: Life, reason: str, words: str, warning: bool) -> None:
    note = last(life)
    assert note is not None
    assert (note.reason, words in note.text, note.warning) == (reason, True, warning)
    assert (note.about.kind, note.about.namespace, note.about.uid) == ("PyTorchJob.kubeflow.org/v1", "team-a", "u-1")


@pytest.mark.parametrize("code", [Code.CLAIM_NOT_NEEDED, Code.CLAIM_WITHDRAWN, Code.CLAIM_OVERTAKEN])
def test_a_claim_that_nobody_waits_for_any_more_is_not_told(code: Code) -> None:
    assert last(in_vain(code)) is None


def test_a_rejected_object_is_found_without_a_specification() -> None:
    reasons = (Reason(Code.INVALID, "is -1", "spec.x", "write 0 or more"),)
    what = {"kind": "PyTorchJob", "name": "t", "hub": HUB}
    message = wire.Rejected(job="j", tenant="team-a", rev=1, reasons=reasons, **what)
    note = note_on(Life("j").then(wire.Rejected, reasons=reasons).now, message, "cause")
    assert note is not None
    assert (note.about.kind, note.about.name) == ("PyTorchJob.kubeflow.org/v1", "t")
    assert "spec.x: is -1" in note.text


def test_a_job_that_did_not_come_from_the_hub_has_nobody_to_tell() -> None:
    assert last(running()) is None


def test_a_job_that_runs_before_its_dispatch_was_told_says_where_it_went() -> None:
    life = running(hub=HUB)
    note = note_on(life.now, life.said[-1][1], "cause", dispatched=False)
    assert note is not None
    way = "Dispatched to c1: 4 pods on 2 nodes; queue gold; quota root/a."
    assert note.text == f"Running in c1: 4 of 4 pods are up. {way}"


def test_commands_and_inner_steps_are_not_told() -> None:
    life = failing(running(hub=HUB))
    told = [note_on(life.now, message, "cause") for _, message in life.said]
    assert [note.reason for note in told if note] == [
        "Queued",
        "Placed",
        "Dispatched",
        "Running",
        "Failed",
        "WaitingForRemoval",
    ]


def manifest(**more: Any) -> dict[str, Any]:
    note = Note("abc", more.pop("about", job()), "Placed", more.pop("text", "Placed in c1."))
    return manifest_of(note, 1_700_000_000_000)


def test_an_event_is_one_that_kubernetes_takes() -> None:
    event = manifest()
    assert event["metadata"] == {"name": "train.abc", "namespace": "team-a"}
    assert event["involvedObject"] == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "namespace": "team-a",
        "name": "train",
        "uid": "u-team-a-train",
    }
    assert (event["lastTimestamp"], event["type"]) == ("2023-11-14T22:13:20Z", "Normal")


def test_a_long_text_is_cut_to_what_kubernetes_takes() -> None:
    assert len(manifest(text="x" * 5_000)["message"]) == 1_024


@pytest.mark.parametrize("name", ["a" * 253, "a" * 199 + "-b", "a" * 199 + ".b"])
def test_the_name_of_an_event_is_always_a_name(name: str) -> None:
    given = manifest(about=job(name))["metadata"]["name"]
    assert len(given) <= 253
    assert all(part[0].isalnum() and part[-1].isalnum() for part in given.split("."))


def test_an_object_without_a_namespace_has_its_events_in_default() -> None:
    event = manifest(about=job("p", ""))
    assert (event["metadata"]["namespace"], "namespace" in event["involvedObject"]) == ("default", False)
