"""The auditor and evictions: each belongs to an open claim whose job comes first, and costs its victim no attempt."""

from typing import Any

import msgspec
import pytest

from fairway.audit.evictions.claims import claim_id
from fairway.domain.quota.node_terms import DOMAIN
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.claims import (
    AT,
    MINUTE,
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
