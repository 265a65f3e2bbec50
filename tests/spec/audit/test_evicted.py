"""The auditor and what evictions cost: their victims no attempt, and nobody what is kept for another."""

from typing import Any

import msgspec
import pytest

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker
from fairway.domain.quota.node_terms import LEND_LIMIT
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import jobs as wire
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


def test_room_that_is_kept_is_nobody_elses() -> None:
    first, second, _ = reclaimed()
    late = claims(waiting("owner", "a", after=10 * S), AT)
    third = goes(waiting("third", "b"), after=AT + 20 * S - T0)
    text = "n1 of c1 has 8 nvidia.com/gpu, but 16 are reserved or running with what is kept for owner"
    assert ("kept", "third", text) in wrong((first, second, late, third), None)


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
