"""Whose attempt is on its way out anyway is nobody's loss: claims name it first, with what it has yet to give back."""

from collections.abc import Callable

import pytest

from fairway.lab.bench.evict.candidate_rows import CandidateRow, in_rows
from fairway.queue.preemption.candidates import LEAVING
from fairway.wire import jobs as wire
from fairway.wire.preemption.evictions import Relieve
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S
from tests.spec.builders.waiting import quota, waiting
from tests.spec.queue.preemption.test_claims import NOW, THEIRS, lent, relieve, running

CANCELLED = Reason(Code.CANCELLED, "by its owner")


def cancelled(ago: int = 10) -> Life:
    """So many seconds before the look."""
    life = running("b1", 1, leaf=THEIRS)
    return life.then(wire.Recall, after=NOW - ago * S - life.at, cluster="c1", why=CANCELLED)


def failed(ago: int = 10) -> Life:
    why = Reason(Code.JOB_FAILED, "exit code 1")
    life = running("b1", 1, leaf=THEIRS)
    life.then(wire.Failed, after=NOW - ago * S - life.at, cluster="c1", why=why)
    life.then(wire.Recall, after=0, cluster="c1", why=why)
    return life.then(wire.Queue, after=0, attempt=2, queue="gold", leaf=THEIRS, enqueued_at=T0, why=why)


def named(leaves: Life) -> tuple[Relieve, list[CandidateRow]]:
    first, _, *others = lent(4)
    asked = relieve(waiting("mine", why=quota("root")), first, leaves, *others)
    return asked, in_rows(asked)


@pytest.mark.parametrize(
    ("leaves", "gives"),
    [(cancelled(), 8), (failed(), 0)],
    ids=["a cancelled one", "one that waits for its next attempt"],
)
def test_who_leaves_anyway_is_named_first(leaves: Life, gives: int) -> None:
    asked, (leaving, *more) = named(leaves)
    assert [(one.key, one.level) for one in (leaving, *more)] == [("b1/1", LEAVING), ("b3/1", 0), ("b2/1", 0)]
    assert (leaving.cluster, leaving.lost, leaving.charge) == ("c1", 0, {GPU: gives})
    assert (asked.paths[leaving.path] if leaving.path >= 0 else ()) == (THEIRS if gives else ())


@pytest.mark.parametrize("leaves", [cancelled, failed])
@pytest.mark.parametrize(("ago", "counted"), [(179, True), (180, False)], ids=["in its time", "a minute later"])
def test_who_has_not_gone_a_minute_after_its_grace_is_not_counted_on(
    leaves: Callable[[int], Life], ago: int, counted: bool
) -> None:
    """Pods with a finalizer, or on a node that is away, may stay for ever."""
    _, rows = named(leaves(ago))
    assert ("b1/1" in [one.key for one in rows]) is counted
