"""A placement is assumed to take its room until somebody says what became of it, and not a moment longer."""

import msgspec
import pytest

from fairway.domain import decision
from fairway.domain.decision import Put, Step
from fairway.domain.job import Job
from fairway.global_scheduler.service import SchedulerMemory
from fairway.runtime.ports import ReadRows, Row
from fairway.runtime.views.clusters import FleetMemory
from fairway.wire import jobs as wire
from fairway.wire.capacity import ClusterInfo, Node, Slot
from tests.spec.builders.lives import GPU, T0, Life, S, spec

NODE = Node("n1", {GPU: 32, "pods": 110})
SLOTS = (Slot("Worker", "n1", 4),)


def row(value: object) -> Row:
    return Row(1, msgspec.json.encode(value))


def placed() -> Life:
    life = Life().then(wire.Admitted, spec=spec()).then(wire.Queue, queue="q").then(wire.Dequeued)
    return life.then(wire.Placed, cluster="c1", slots=SLOTS)


def assuming(job: Job) -> FleetMemory:
    """The scheduler's view, right after it placed the job: none of its GPUs is free any more."""
    view = FleetMemory()
    known = [(decision.CLUSTERS, "c1", row(ClusterInfo("c1", observed_at=T0))), ("nodes/c1", "n1", row(NODE))]
    view.take(ReadRows(changes=known, version=1), (), job.at)
    view.apply(Step((Put(decision.JOBS, job.id, job, rev=job.rev),)))
    assert view.clusters["c1"].free("n1")[GPU] == 0
    return view


def test_it_keeps_its_room_while_nobody_has_spoken() -> None:
    life = placed()
    view = assuming(life.now)
    view.take(ReadRows(version=2), (), life.at + S)
    assert view.clusters["c1"].free("n1")[GPU] == 0


def test_a_reservation_that_came_and_went_between_two_looks_leaves_nothing_behind() -> None:
    life = placed()
    view = assuming(life.now)
    changes = [("ledger/c1", life.now.key, None), ("nodes/c1", "n1", row(NODE))]
    view.take(ReadRows(changes=changes, version=9), (), life.at + S)
    assert view.clusters["c1"].free("n1")[GPU] == 32


def test_the_scheduler_reads_of_the_ledger_what_was_dropped() -> None:
    """Rows of nodes tell it of reservations, and show nothing of one that came and went between two looks."""
    wanted = SchedulerMemory().wants((), T0)
    assert not "ledger/c1".startswith(wanted.follow)
    assert "ledger/c1".startswith(wanted.gone)


@pytest.mark.parametrize("after", [pytest.param(1, id="at once"), pytest.param(9_000, id="nine seconds later")])
def test_a_placement_that_was_sent_back_gives_up_its_room_at_the_first_look_after(after: int) -> None:
    life = placed()
    view = assuming(life.now)
    back = life.then(wire.Queue, queue="q", after=after).now
    wanted = view.wants((), back.at + 100)
    assert wanted.rows == {decision.JOBS: [back.id]}
    view.take(ReadRows(rows={(decision.JOBS, back.id): row(back)}, version=2), (), back.at + 100)
    assert view.clusters["c1"].free("n1")[GPU] == 32


def test_a_placement_that_was_sent_back_and_reserved_where_another_scheduler_chose_gives_up_its_room() -> None:
    job = placed().now
    view = assuming(job)
    there = Node("n7", {GPU: 32, "pods": 110}, holds={job.key: {GPU: 32}})
    view.take(ReadRows(changes=[("nodes/c2", "n7", row(there))], version=9), (), job.at + S)
    assert view.clusters["c1"].free("n1")[GPU] == 32
