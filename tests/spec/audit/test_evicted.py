"""The auditor and what evictions cost: their victims no attempt, and nobody what is kept for another."""

from typing import Any

import msgspec
import pytest

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker
from fairway.domain.quota.node_terms import LEND_LIMIT
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node, Pods
from fairway.wire.fleet import Report
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.claims import (
    AT,
    MINUTE,
    NODES,
    S8,
    TREE,
    A,
    B,
    claims,
    decided,
    evicted,
    found,
    goes,
    reclaimed,
    runs,
    waiting,
    wrong,
)
from tests.spec.builders.lives import GPU, T0, S
from tests.spec.builders.records import heard


@pytest.mark.parametrize(
    ("queue", "text"),
    [
        ({"enqueued_at": AT}, f"evicted, it is queued as of {AT}, and not {T0 + 2 * S}"),
        ({"queue": "other"}, "evicted, it is queued in other, and not in gold"),
    ],
)
def test_a_victim_that_lost_its_place(queue: dict[str, Any], text: str) -> None:
    assert ("victim", "second", text) in wrong(reclaimed(**queue))


def test_a_victim_that_paid_an_attempt() -> None:
    first, second, owner = reclaimed()
    again = runs(second)
    last = Reason(Code.RECLAIMED, "exit code 1 (attempt 2 of 2; no attempts left)")
    again.then(wire.Failed, cluster="c1", why=last, final=True)
    text = "2 attempts are said to be spent, and 1 are: evictions spend none"
    assert ("victim", "second", text) in wrong((first, again, owner))


def test_quota_that_a_claim_keeps_is_nobody_elses() -> None:
    """The second one has left, and a third one of its leaf takes what it had."""
    first, second, _ = reclaimed()
    late = claims(waiting("owner", "a", after=10 * S), AT)
    third = goes(waiting("third", "b"), after=AT + 20 * S - T0)
    text = "quota root uses 16 nvidia.com/gpu of at most 16, and 8 are kept there; owner claimed it"
    assert ("kept", "third", text) in wrong((first, second, late, third))


@pytest.mark.parametrize(
    ("answered", "short", "broken"),
    [
        pytest.param(False, {f"root|{GPU}": 8}, False, id="nobody has given that back yet"),
        pytest.param(False, {}, True, id="it was free when that was claimed"),
        pytest.param(True, {f"root|{GPU}": 8}, True, id="its victims have given it back"),
    ],
)
def test_who_goes_to_its_own_room_leaves_alone_what_others_claimed(
    answered: bool, short: dict[str, int], broken: bool
) -> None:
    """Of 16 others have 8 at most, and another one has claimed as many."""
    other = waiting("other", "a", after=5 * S)
    other.then(
        wire.Claimed, after=AT - other.at - S, claim=1, causes=(Cause.RECLAIM,), level=2, until=AT + 30 * S, short=short
    )
    if answered:
        other.then(wire.Nominated, after=0, cluster="c1", slots=S8, victims=1, claim=1, until=AT + MINUTE)
    first = runs(waiting("first", "b"), "n2")
    second = runs(waiting("second", "b", after=2 * S))
    owner = claims(waiting("owner", "a", after=10 * S), AT)
    evicted(second, owner, AT + 2 * S)
    goes(owner, after=10 * S, kept=True)
    assert (("kept", "owner") in [one[:2] for one in wrong((first, second, owner, other), TREE)]) == broken


@pytest.mark.parametrize(("ago", "broken"), [(0, False), (MINUTE, True)], ids=["this moment", "long ago"])
def test_a_job_that_came_back_with_its_claim_keeps_its_quota_once_that_was_heard(ago: int, broken: bool) -> None:
    """It was let go for room elsewhere, and there was none: of 16 others have 8, and it has claimed the rest."""
    owner = claims(waiting("owner", "a", after=10 * S), AT)
    owner.then(wire.Dequeued, path=owner.now.leaf, charge={GPU: 8, "kube-queue/max-jobs": 1})
    why = Reason(Code.WAITING_FOR_ROOM, "none")
    owner.then(wire.Queue, queue="gold", leaf=owner.now.leaf, enqueued_at=owner.now.enqueued_at, why=why)
    first = runs(waiting("first", "b"), "n2")
    third = waiting("third", "b")
    goes(third, after=owner.at - third.at + ago + 1)
    text = "quota root uses 16 nvidia.com/gpu of at most 16, and 8 are kept there; owner claimed it"
    assert (("kept", "third", text) in wrong((first, owner, third), TREE)) == broken


def test_room_that_is_kept_is_nobody_elses() -> None:
    first, second, _ = reclaimed()
    late = claims(waiting("owner", "a", after=10 * S), AT)
    third = goes(waiting("third", "b"), after=AT + 20 * S - T0)
    text = "n1 of c1 has 8 nvidia.com/gpu, but 16 are reserved or running with what is kept for owner"
    assert ("kept", "third", text) in wrong((first, second, late, third), None)


@pytest.mark.parametrize("lost", [False, True])
def test_its_job_may_have_gone_elsewhere_where_the_working_set_was_lost_after_it_was_placed(lost: bool) -> None:
    """What was said then may be lost with it, and what was kept was free for others."""
    first, second, _ = reclaimed()
    late = claims(waiting("owner", "a", after=10 * S), AT)
    late.then(wire.Dequeued, after=15 * S, path=late.now.leaf, charge={GPU: 8, "kube-queue/max-jobs": 1})
    late.then(wire.Placed, cluster="c2", slots=S8)
    third = goes(waiting("third", "b"), after=AT + 20 * S - T0)
    back = {"queue": "gold", "leaf": late.now.leaf, "enqueued_at": late.now.enqueued_at}
    why = Reason(Code.ROOM_TAKEN, "taken")
    late.then(wire.Queue, after=MINUTE, why=why, epoch=9 if lost else 0, **back)
    broken = [one.rule for one in found((first, second, late, third), None).violations if one.job == "third"]
    assert ("kept" in broken) is not lost


def test_whose_leaving_makes_no_difference() -> None:
    """Its node is not the one that is kept."""
    *_, owner = reclaimed()
    other = runs(waiting("second", "b", after=2 * S), "n2")
    evicted(other, owner, AT + 2 * S)
    text = "attempt 1 was evicted for owner, which has room beside it"
    assert ("needed", "second", text) in wrong((other, owner))


def test_what_is_not_lent_stays() -> None:
    keeps = msgspec.structs.replace(A, attributes={LEND_LIMIT: f'{{"{GPU}": 0}}'})
    tree = QuotaNode("root", "root", min={GPU: 16}, max={GPU: 16}, children=(keeps, B))
    two = goes(waiting("one", "b"), "n1"), goes(waiting("two", "b", after=5 * S), "n2")
    text = "quota root uses 16 nvidia.com/gpu of at most 16, and 8 are kept there"
    assert wrong(two, tree) == [("lending", "two", text)]


def test_who_is_never_evicted_stays_within_the_min() -> None:
    two = (
        goes(waiting("one", "a", evictable=False), "n1"),
        goes(waiting("two", "a", after=5 * S, evictable=False), "n2"),
    )
    text = "jobs that are never evicted use 16 nvidia.com/gpu of quota root/a, more than its min of 8"
    assert wrong(two) == [("min", "two", text)]


def test_a_claim_that_nobody_ends() -> None:
    first, _, _ = reclaimed()
    owner = claims(waiting("owner", "a", after=10 * S), AT)
    first.then(wire.Succeeded, after=600 * S, cluster="c1")
    assert [rule for rule, job, _ in wrong((first, owner)) if job == "owner"] == ["claim"]
    assert found((first, owner)).evictions.claims == {"open": 1}


def test_nobody_evicts_whom_he_was_evicted_by() -> None:
    """Nothing came or ended in between."""
    one = runs(waiting("one", "b"))
    two = claims(waiting("two", "a"), AT)
    evicted(one, two, AT + S)
    goes(two).then(wire.Dispatched, cluster="c1", uid="u").then(wire.Running, cluster="c1")
    one.then(wire.Claimed, after=MINUTE, claim=1, causes=(Cause.RECLAIM,), level=2, until=AT + 3 * MINUTE)
    one.then(wire.Nominated, cluster="c1", slots=S8, victims=1, claim=1, until=AT + 3 * MINUTE)
    evicted(two, one, one.at + S)
    assert "cycle" in [rule for rule, *_ in wrong((one, two))]


def test_a_record_without_decisions_is_judged_without_them() -> None:
    checker = Checker(NODES, TREE)
    checker.evictions.claims.decisions_since = None
    for spoken in heard(*reclaimed()):
        checker.hear(Spoken(spoken.sequence, spoken.id, spoken.subject, spoken.message))
    assert [one for one in checker.findings().violations if one.rule == "claim"] == []


@pytest.mark.parametrize("stray", [True, False])
def test_what_is_there_of_an_attempt_that_was_removed_does_not_leave(stray: bool) -> None:
    """Somebody's pods with the labels of an attempt that left before: there is no room beside them and the victim."""
    third = evicted(runs(waiting("third", "b")), waiting("other", "a"), AT - 30 * S)
    second = runs(waiting("second", "b", after=2 * S))
    owner = claims(waiting("owner", "a", after=10 * S), AT)
    evicted(second, owner, AT + 2 * S)
    checker = Checker({"c1": {"n1": {GPU: 16, "pods": 110}}})
    checker.decided(decided())
    for spoken in heard(third, second, owner):
        checker.hear(spoken)
    pods = {"third/1": Pods({"Worker": 1}, {GPU: 8, "pods": 1}, namespace="team-b")} if stray else {}
    rows = (Node("n1", {GPU: 16, "pods": 110}, attempts=pods),)
    checker.see(Report(at=AT - 10 * S, cluster="c1", epoch="e", sequence=1, full=True, nodes=rows))
    assert ("needed" in [one.rule for one in checker.findings().violations]) is not stray
