"""queue: a job that prefers batch resources (`fairway.io/room: batch,normal`) is charged those first, then cpu and
memory, and goes back to the first ones wherever there is room for it."""

from typing import Any

import pytest
from msgspec.structs import replace

from fairway.domain.batch_resources import on_batch
from fairway.domain.quota.charge import Share, owed_key
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY
from fairway.queue.decide import decide
from fairway.queue.view import SWEEP, Sweep
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet, Workload
from tests.spec.builders.lives import T0, Life, S, spec
from tests.spec.builders.views import Given, events, gone, heard, of, told
from tests.spec.builders.waiting import LEAF, quota, room

NOW = T0 + 900 * S
PODS = (PodSet("Worker", 2, {"cpu": 1_000, "memory": 100}),)
ON_NORMAL = {"cpu": 2_000, "memory": 200, "kube-queue/max-jobs": 1}
ON_BATCH = {BATCH_CPU: 2_000, BATCH_MEMORY: 200, "kube-queue/max-jobs": 1}
NO_BATCH = Reason(Code.NO_BATCH_ROOM, "no batch resources")
TREE = QuotaNode(
    "root",
    "root",
    {},
    {"cpu": 9_000, BATCH_CPU: 9_000},
    children=(QuotaNode("a", "root/a", {}, {"cpu": 4_000}, namespaces=("team-a",)),),
)
NORMAL_FULL = {"root/a|cpu": 4_000}
BATCH_FULL = {f"root|{BATCH_CPU}": 9_000}


def either(name: str = "a") -> Life:
    """A job that came a moment ago."""
    work = Workload("kubeflow.org/v1", "PyTorchJob", "team-a", name, PODS, 2, batch_first=True)
    life = Life(name).then(wire.Admitted, attempt=1, spec=spec(name, workload=work))
    return life.then(wire.Queue, queue="gold", leaf=LEAF, enqueued_at=T0)


def let_go(life: Life, batch: bool) -> Life:
    assert life.now.spec is not None
    if batch:
        life.then(wire.Amended, spec=replace(life.now.spec, workload=on_batch(life.now.spec.workload)))
    return life.then(wire.Dequeued, path=LEAF, charge=ON_BATCH if batch else ON_NORMAL)


def sent_back(life: Life, why: Reason, freed: int = 0) -> Life:
    return life.then(wire.Queue, queue="gold", leaf=LEAF, enqueued_at=T0, why=why, freed=freed)


def reserved(life: Life) -> Life:
    life.then(wire.Placed, cluster="c1", slots=())
    return life.then(wire.Reserved, cluster="c1", slots=(), expires_at=life.at + 60 * S)


def without_room(name: str = "a") -> Life:
    """The scheduler had room neither of the one nor of the other."""
    life = sent_back(let_go(either(name), batch=True), NO_BATCH)
    assert life.now.spec is not None
    life.then(wire.Amended, spec=either(name).now.spec)
    return sent_back(let_go(life, batch=False), room())


def freed(**amounts: int) -> fleet.Freed:
    said = {**amounts, "pods": 110}
    return fleet.Freed(cluster="c1", free=said, largest=said, count=1)


BATCH_FREED = freed(**{BATCH_CPU: 2_000, BATCH_MEMORY: 200})


def view(*lives: Life, **more: Any) -> Given:
    return of(*lives, **{"tree": TREE, "freed": 1, **more})


def charged(life: Life, **more: Any) -> Any:
    """What it is let go with, when its last word is heard; None: it stays."""
    said = events(decide(view(life, **more), heard(life), NOW))
    return next((one.charge for one in said if one.verb == "dequeued"), None)


def test_batch_resources_are_asked_for_first_and_said_in_the_specification() -> None:
    life = either()
    amended, dequeued = events(decide(view(life), heard(life), NOW))
    assert (amended.verb, dequeued.verb, dequeued.charge) == ("amended", "dequeued", ON_BATCH)
    assert [one.requests for one in amended.spec.workload.pod_sets] == [{BATCH_CPU: 1_000, BATCH_MEMORY: 100}]


@pytest.mark.parametrize(
    ("usage", "want"),
    [({}, ON_BATCH), (NORMAL_FULL, ON_BATCH), (BATCH_FULL, ON_NORMAL), (NORMAL_FULL | BATCH_FULL, None)],
    ids=["both", "batch alone", "normal alone", "neither"],
)
def test_the_first_that_its_quota_takes_is_charged(usage: dict[str, int], want: Any) -> None:
    assert charged(either(), usage=usage) == want


def test_without_room_in_batch_resources_it_is_charged_cpu_and_memory() -> None:
    life = sent_back(let_go(either(), batch=True), NO_BATCH)
    amended, dequeued = events(decide(view(life), heard(life), NOW))
    assert amended.spec == either().now.spec
    assert dequeued.charge == ON_NORMAL


def test_it_waits_for_the_quota_of_cpu_and_memory_and_says_so_once() -> None:
    life = sent_back(let_go(either(), batch=True), NO_BATCH, freed=1)
    amended, blocked = events(decide(view(life, usage=NORMAL_FULL), heard(life), NOW))
    assert (amended.spec, blocked.why.code, blocked.why.field) == (either().now.spec, Code.WAITING_FOR_QUOTA, "root/a")
    life.then(wire.Amended, spec=amended.spec).then(wire.Blocked, why=blocked.why)
    assert events(decide(view(life, usage=NORMAL_FULL), told(Sweep()), NOW)) == []


def test_freed_batch_resources_wake_it_whatever_it_waits_for() -> None:
    for life in (without_room(), either().then(wire.Blocked, why=quota())):
        given = view(life, usage=NORMAL_FULL, room={"c1": BATCH_FREED}, freed=2)
        said = events(decide(given, told(BATCH_FREED), NOW))
        assert [one.charge for one in said if one.verb == "dequeued"] == [ON_BATCH]


def test_freed_cpu_and_memory_wake_it_too() -> None:
    room_there = freed(cpu=2_000, memory=200)
    said = events(decide(view(without_room(), freed=2), told(room_there), NOW))
    assert [(one.charge, one.room) for one in said if one.verb == "dequeued"] == [(ON_NORMAL, "c1")]


def test_room_that_only_sums_up_wakes_nobody() -> None:
    assert gone(decide(view(without_room(), freed=2), told(freed(cpu=1_000, memory=200)), NOW)) == []


@pytest.mark.parametrize("full", [True, False], ids=["it waits for quota of cpu", "it waits for room in cpu"])
def test_what_a_job_on_batch_resources_gives_back_of_its_quota_is_for_it_where_there_is_room(full: bool) -> None:
    over = reserved(let_go(either("x"), batch=True)).then(wire.Dispatched, cluster="c1", uid="u-1")
    over.then(wire.Succeeded, cluster="c1")
    share = {owed_key("x", over.now.rev): Share(LEAF, ON_BATCH)}
    waits = either().then(wire.Blocked, why=quota()) if full else without_room()
    usage = BATCH_FULL | (NORMAL_FULL if full else {})
    given = view(over, waits, usage=usage, owed=share, room={"c1": BATCH_FREED}, freed=2)
    said = events(decide(given, heard(over), NOW))
    assert [(one.job, one.charge) for one in said if one.verb == "dequeued"] == [("a", ON_BATCH)]


def test_room_that_was_freed_while_it_was_asked_for_is_not_missed() -> None:
    """The scheduler decided on what was there before; nobody will say of that room again that it is free."""
    life = sent_back(let_go(either(), batch=True), NO_BATCH, freed=1)
    given = {"usage": NORMAL_FULL, "room": {"c1": BATCH_FREED}}
    (said,) = events(decide(view(life, **given, freed=2), heard(life), NOW))
    assert (said.charge, said.room) == (ON_BATCH, "c1")
    asked = view(life, **given, freed=1)
    asked.queued.found_none("a", 1, Code.NO_BATCH_ROOM)
    assert gone(decide(asked, heard(life), NOW)) == []


def test_nor_while_cpu_and_memory_were_asked_for() -> None:
    life = without_room()
    assert charged(life, room={"c1": BATCH_FREED}, freed=2) == ON_BATCH
    assert charged(life, room={"c1": freed(cpu=1)}, freed=2) is None


def test_it_is_looked_at_again_when_a_cluster_may_be_had_on_batch_resources_again() -> None:
    life = sent_back(let_go(either(), batch=True), NO_BATCH, freed=1)
    life.job = replace(life.now, avoid={"c1": NOW + 5 * S})
    assert decide(view(life, usage=NORMAL_FULL), heard(life), NOW).again_in == 5 * S


def test_another_of_its_shape_does_not_ask_in_vain() -> None:
    life = either("b")
    given = view(sent_back(let_go(either(), batch=True), NO_BATCH, freed=1), life)
    given.queued.found_none("a", 1, Code.NO_BATCH_ROOM)
    said = events(decide(given, heard(life), NOW))
    assert [(one.job, one.charge) for one in said if one.verb == "dequeued"] == [("b", ON_NORMAL)]


def test_after_an_attempt_it_begins_with_batch_resources_again() -> None:
    life = reserved(let_go(either(), batch=False)).then(wire.Lost, cluster="c1", why=Reason(Code.VANISHED, "gone"))
    life.then(wire.Queue, attempt=2, queue="gold", leaf=LEAF, enqueued_at=T0, why=Reason(Code.VANISHED, "gone"))
    assert charged(life) == ON_BATCH


def test_while_its_last_attempt_is_being_removed_it_is_said_to_ask_for_what_that_has() -> None:
    """From the record nobody could tell any more what room the attempt has."""
    life = reserved(let_go(either(), batch=True))
    why = Reason(Code.VANISHED, "gone")
    life.then(wire.Lost, cluster="c1", why=why).then(wire.Recall, cluster="c1", why=why)
    life.then(wire.Queue, attempt=2, queue="gold", leaf=LEAF, enqueued_at=T0, why=why)
    said = events(decide(view(life, usage=NORMAL_FULL), heard(life), NOW))
    assert [one.verb for one in said] == ["blocked"]


def test_where_only_batch_resources_became_less_cpu_and_memory_may_be_had() -> None:
    life = reserved(let_go(either(), batch=True))
    life.then(wire.Lost, cluster="c1", why=Reason(Code.BATCH_SHRUNK, "less"))
    life.then(wire.Queue, attempt=2, queue="gold", leaf=LEAF, enqueued_at=T0, why=Reason(Code.BATCH_SHRUNK, "less"))
    entry = view(life).queued.entries["a"]
    assert entry.batch is not None
    assert (entry.avoid, list(entry.batch.avoid)) == ({}, ["c1"])


def test_a_failure_on_cpu_and_memory_does_not_end_the_time_in_which_batch_resources_are_avoided() -> None:
    life = reserved(let_go(either(), batch=True)).then(wire.Dispatched, cluster="c1", uid="u-1")
    life.then(wire.Lost, cluster="c1", why=Reason(Code.BATCH_SHRUNK, "less"))
    until = life.at + 600 * S
    life.then(wire.Queue, attempt=2, queue="gold", leaf=LEAF, enqueued_at=T0, why=Reason(Code.BATCH_SHRUNK, "less"))
    spec = life.now.spec
    assert spec is not None
    life.then(wire.Amended, spec=replace(spec, avoid=S, workload=either().now.spec.workload))
    life = reserved(let_go(life, batch=False)).then(wire.Dispatched, cluster="c1", uid="u-2")
    life.then(wire.Failed, cluster="c1", why=Reason(Code.JOB_FAILED, "exit code 1"))
    assert life.now.avoid == {"c1": until}


def test_the_sweep_wakes_none_that_freed_room_would() -> None:
    given = view(without_room(), room={"c1": freed(cpu=1)}, freed=2)
    assert [one for one in events(decide(given, told(Sweep()), NOW)) if getattr(one, "woken_by", "") == SWEEP] == []
