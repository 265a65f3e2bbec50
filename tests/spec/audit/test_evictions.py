"""The auditor and evictions: each belongs to an open claim whose job comes first, and costs its victim no attempt."""

from typing import Any

import msgspec
import pytest

from fairway.audit.auditor import Checker
from fairway.domain.events import claim_id
from fairway.domain.quota.node_terms import DOMAIN
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.claims import (
    AT,
    MINUTE,
    NODES,
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
from tests.spec.builders.lives import GPU, T0, Life, S
from tests.spec.builders.records import heard


def test_a_guaranteed_share_is_got_back() -> None:
    findings = found(reclaimed())
    assert wrong(reclaimed()) == []
    assert findings.evictions.claims == {"used": 1}
    assert findings.evictions.evicted == {"Reclaim": 1}
    assert findings.evictions.wasted == {}
    assert findings.evictions.most == 1


def test_nobody_decided_it() -> None:
    assert wrong(reclaimed(), TREE, decided("first")) == [
        ("claim", "second", f"attempt 1 was evicted for {claim_id('owner', 1, 1)}, and no decision names it")
    ]


def test_a_claim_that_was_over() -> None:
    first, *_ = reclaimed()
    owner = claims(waiting("owner", "a", after=10 * S), AT)
    owner.then(wire.Unclaimed, after=0, claim=1, why=Reason(Code.CLAIM_EXPIRED, "too late"))
    late = evicted(runs(waiting("second", "b", after=2 * S)), owner, AT + MINUTE)
    text = f"attempt 1 was evicted for {claim_id('owner', 1, 1)}, which had ended 59 s before: ClaimExpired"
    assert ("claim", "second", text) in wrong((first, late, owner))
    assert found((first, late, owner)).evictions.wasted == {"ClaimExpired": 1}


def test_nobody_claimed() -> None:
    first, second, _ = reclaimed()
    texts = [text for rule, _, text in wrong((first, second, waiting("owner", "a"))) if rule == "claim"]
    assert texts == [f"attempt 1 was evicted for {claim_id('owner', 1, 1)}, and nobody claimed"]


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (
            QuotaNode("root", "root", min={GPU: 16}, max={GPU: 16}, children=(B, QuotaNode("a", "root/a"))),
            "it was evicted by Reclaim for owner, and has level 0 as that has 0",
        ),
        (
            QuotaNode("root", "root", max={GPU: 16}, children=(A, QuotaNode("b", "root/b", min={GPU: 16}))),
            "it was evicted by Reclaim for owner, and has level 2 as that has 2",
        ),
    ],
    ids=["the evictor has no share", "the victim is within its own"],
)
def test_a_level_that_is_no_higher(tree: QuotaNode, text: str) -> None:
    assert ("precedes", "second", text) in wrong(reclaimed(), tree)


def test_a_leaf_that_has_not_borrowed() -> None:
    """What is spare there is larger than its min, and what it uses is not."""
    third = waiting("third", "b", priority=5, pods=2)
    lean = QuotaNode("b", "root/b", min={GPU: 16}, max={GPU: 16})
    tree = QuotaNode("root", "root", min={GPU: 24}, max={GPU: 24}, children=(A, lean))
    text = "it was evicted by Reclaim, and root/b had no more than its min of nvidia.com/gpu"
    assert ("precedes", "second", text) in wrong((*reclaimed(), third), tree)


@pytest.mark.parametrize(("told", "rules"), [(False, []), (True, ["precedes"])], ids=["no", "yes"])
def test_of_a_job_the_queue_knows_for_sure_once_it_has_said_something_of_it(told: bool, rules: list[str]) -> None:
    """One with more priority came before the owner, and would have all of the min."""
    second = runs(waiting("second", "b", after=2 * S))
    better = waiting("better", "a", after=MINUTE - 1_500, priority=5)
    if told:
        better.then(wire.Blocked, after=100, why=Reason(Code.WAITING_FOR_QUOTA, "none left"))
    owner = claims(waiting("owner", "a", after=MINUTE - 1_200), AT)
    evicted(second, owner, AT + 2 * S)
    assert [rule for rule, *_ in wrong((second, better, owner))] == rules


def own_leaf_first(low_at: int, second_at: int) -> list[tuple[str, str]]:
    """What is wrong where a job that needs all of its leaf's min evicts one of less priority there and a borrower."""
    all_of_it = msgspec.structs.replace(A, min={GPU: 16})
    tree = QuotaNode("root", "root", min={GPU: 16}, max={GPU: 16}, children=(all_of_it, B))
    low = runs(waiting("low", "a"), "n2")
    second = runs(waiting("second", "b", after=2 * S))
    owner = claims(waiting("owner", "a", after=10 * S, pods=2, priority=5), AT)
    evicted(low, owner, AT + low_at * S, Cause.PREEMPTION)
    evicted(second, owner, AT + second_at * S)
    return [(job, text) for rule, job, text in wrong((low, second, owner), tree) if rule == "precedes"]


def test_what_its_own_leaf_gave_back_before_counts_for_what_is_reclaimed() -> None:
    assert own_leaf_first(2, 3) == []
    assert own_leaf_first(3, 2) == [("second", "it was evicted by Reclaim for more than the min of root/a")]


def preempted(high: int, domain: bool = True, **more: Any) -> tuple[list[tuple[str, str, str]], Life]:
    """A job of leaf b with this priority evicts one of leaf a with priority 5."""
    victim = runs(waiting("second", "a", priority=5, **more))
    owner = claims(waiting("owner", "b", after=10 * S, priority=high), T0 + 3 * MINUTE, Cause.PREEMPTION)
    evicted(victim, owner, T0 + 3 * MINUTE + 2 * S, Cause.PREEMPTION)
    bare = tuple(msgspec.structs.replace(one, min={}) for one in (A, B))
    said = {DOMAIN: "true"} if domain else {}
    tree = QuotaNode("root", "root", max={GPU: 16}, attributes=said, children=bare)
    return [one for one in wrong((victim, goes(owner)), tree) if one[0] in ("precedes", "victim")], victim


def test_a_higher_priority_in_one_domain() -> None:
    assert preempted(6)[0] == []
    assert [rule for rule, *_ in preempted(5)[0]] == ["precedes"]
    assert [rule for rule, *_ in preempted(6, domain=False)[0]] == ["precedes"]


def test_a_victim_that_is_never_evicted() -> None:
    assert preempted(6, evictable=False)[0] == [("victim", "second", "attempt 1 was evicted of a job that never is")]


def test_of_two_claims_whose_victims_are_told_in_one_message_each_has_its_own() -> None:
    at = AT + MINUTE
    first = runs(waiting("first", "b"), "n2")
    second = runs(waiting("second", "b", after=2 * S))
    owner = claims(waiting("owner", "a", after=10 * S), at)
    urgent = claims(waiting("urgent", "b", after=10 * S, priority=9), at, Cause.PREEMPTION, "n2")
    evicted(second, owner, at + 2 * S)
    evicted(first, urgent, at + 2 * S, Cause.PREEMPTION)
    record = heard(first, second, owner, urgent)
    place = min(one.sequence for one in record if isinstance(one.message, wire.Evicted))
    checker = Checker(NODES, TREE)
    for spoken in record:
        together = isinstance(spoken.message, wire.Evicted)
        checker.hear(msgspec.structs.replace(spoken, sequence=place) if together else spoken)
    assert [one for one in checker.findings().violations if one.rule == "precedes"] == []
    assert checker.findings().evictions.evicted == {"Preemption": 1, "Reclaim": 1}
