"""Room that is kept for a claim and is free: who goes to it, when it is told, and what that leaves for others."""

from typing import Any

import msgspec

from fairway.domain import decision
from fairway.queue.decide import decide
from fairway.queue.memory import QueueMemory
from fairway.runtime.ports import ReadRows, Row
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, SLOTS, T0, Life
from tests.spec.builders.views import events, told
from tests.spec.builders.waiting import freed, room, waiting
from tests.spec.queue.preemption.test_claims import MINE, NOW, S, nominated

Went = list[tuple[str, str, bool]]


def memory(*lives: Life) -> QueueMemory:
    queue = QueueMemory(Catalog())
    queue.begin()
    hear(queue, freed(0, "c1", at=NOW), freed(0, "c2", at=NOW), lives=lives)
    return queue


def hear(queue: QueueMemory, *messages: Any, lives: tuple[Life, ...] = ()) -> Went:
    """Who goes: the job, to which cluster's room, and whether that is kept for it."""
    heard = [told(one) for one in messages]
    queue.wants(heard, NOW)
    rows = {(decision.JOBS, one.name): Row(one.now.rev, msgspec.json.encode(one.now)) for one in lives}
    queue.take(ReadRows(rows=rows, counters={decision.FREED: {"c1": 1, "c2": 1}}), heard, NOW)
    went = []
    for one in heard:
        made = decide(queue, one, NOW)
        for step in made.steps:
            queue.apply(step)
        went += [(said.job, said.room, said.kept) for said in events(made) if isinstance(said, wire.Dequeued)]
    return went


def ready(*jobs: str, gpus: int = 0, after: int = 2) -> Any:
    return freed(gpus, "c1", at=NOW + after, ready=jobs)


def test_it_is_still_known_when_its_job_comes_back_from_elsewhere() -> None:
    job = nominated().then(wire.Blocked, why=Reason(Code.WAITING_FOR_EVICTIONS, "one has to leave"))
    queue = memory(job)
    assert hear(queue, freed(8, "c2", at=NOW + 1), lives=(job,)) == [("mine", "c2", False)]
    job.then(wire.Dequeued, room="c2")
    assert hear(queue, ready("mine"), lives=(job,)) == []
    job.then(wire.Placed, cluster="c2", slots=SLOTS)
    back = job.then(wire.Queue, queue="gold", leaf=MINE, enqueued_at=T0, why=Reason(Code.ROOM_TAKEN, "taken"))
    assert hear(queue, back.said[-1][1], lives=(back,)) == [("mine", "c1", True)]


def test_who_comes_back_from_it_waits_until_it_is_told_anew() -> None:
    job = nominated().then(wire.Blocked, why=Reason(Code.WAITING_FOR_EVICTIONS, "one has to leave"))
    queue = memory(job)
    assert hear(queue, ready("mine"), lives=(job,)) == [("mine", "c1", True)]
    job.then(wire.Dequeued, room="c1", kept=True).then(wire.Placed, cluster="c1", slots=SLOTS)
    back = job.then(wire.Queue, queue="gold", leaf=MINE, enqueued_at=T0, why=Reason(Code.ROOM_TAKEN, "taken"))
    assert hear(queue, back.said[-1][1], lives=(back,)) == []
    assert hear(queue, ready("mine", after=3), lives=(back,)) == [("mine", "c1", True)]


def test_who_was_told_that_there_is_no_room_goes_to_it() -> None:
    """Where nobody has to leave, it is free in the same breath in which it is kept."""
    job = waiting("mine", why=room(), leaf=MINE).then(wire.Claimed, claim=1, causes=(), level=2, until=NOW + 30 * S)
    queue = memory(job)
    job.then(wire.Nominated, claim=1, cluster="c1", slots=SLOTS, victims=0, until=NOW + 60 * S)
    assert hear(queue, job.said[-1][1], ready("mine"), lives=(job,)) == [("mine", "c1", True)]


def test_it_takes_nothing_of_what_is_free_for_others() -> None:
    job = nominated().then(wire.Blocked, why=Reason(Code.WAITING_FOR_EVICTIONS, "one has to leave"))
    queue = memory(job)
    assert hear(queue, ready("mine", gpus=4), lives=(job,)) == [("mine", "c1", True)]
    job.then(wire.Dequeued, room="c1", kept=True).then(wire.Placed, cluster="c1", slots=SLOTS)
    job.then(wire.Reserved, after=NOW + 3 - job.at, cluster="c1", slots=SLOTS, expires_at=NOW + 60 * S)
    hear(queue, job.said[-1][1], lives=(job,))
    assert queue.room["c1"].free[GPU] == 4


def test_what_it_takes_elsewhere_after_that_is_taken() -> None:
    job = nominated().then(wire.Blocked, why=Reason(Code.WAITING_FOR_EVICTIONS, "one has to leave"))
    queue = memory(job)
    assert hear(queue, ready("mine"), lives=(job,)) == [("mine", "c1", True)]
    job.then(wire.Dequeued, room="c1", kept=True).then(wire.Placed, cluster="c1", slots=SLOTS)
    back = job.then(wire.Queue, queue="gold", leaf=MINE, enqueued_at=T0, why=Reason(Code.ROOM_TAKEN, "taken"))
    hear(queue, back.said[-1][1], lives=(back,))
    assert hear(queue, freed(8, "c2", at=NOW + 3), lives=(back,)) == [("mine", "c2", False)]
    back.then(wire.Dequeued, room="c2").then(wire.Placed, cluster="c2", slots=SLOTS)
    back.then(wire.Reserved, after=NOW + 4 - back.at, cluster="c2", slots=SLOTS, expires_at=NOW + 60 * S)
    hear(queue, back.said[-1][1], lives=(back,))
    assert queue.room["c2"].free[GPU] < 8
