"""The auditor and notices: a victim has the time that it asks for and that its quota allows."""

from typing import Any

import msgspec
import pytest

from fairway.domain.events import claim_id
from fairway.domain.quota.node_terms import MAX_GRACE
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from tests.spec.builders.claims import AT, TREE, WHY, A, B, claims, goes, runs, waiting, wrong
from tests.spec.builders.lives import S

GONE = AT + 2 * S


def told(begin: Any = runs, max_grace: str = "", notice: int = 30 * S, **recall: int) -> list[str]:
    """What is found of an eviction that says this in its recall."""
    first = runs(waiting("first", "b"), "n2")
    second = begin(waiting("second", "b", after=2 * S, evict_notice=notice))
    owner = claims(waiting("owner", "a", after=10 * S), AT)
    claim = claim_id("owner", 1, 1)
    end = {"cluster": "c1", "why": WHY, "claim": claim, "right": Cause.RECLAIM}
    second.then(wire.Evicted, after=GONE - second.at, cause="m", **end)
    second.then(wire.Recall, after=0, cluster="c1", why=WHY, cause="m", **recall)
    back = {"queue": "gold", "leaf": second.now.leaf, "enqueued_at": second.now.enqueued_at, "attempt": 2}
    second.then(wire.Queue, after=0, why=WHY, **back).then(wire.Removed, after=60 * S, cluster="c1", attempt=1)
    goes(owner, after=90 * S)
    b = msgspec.structs.replace(B, attributes={MAX_GRACE: max_grace} if max_grace else {})
    tree: QuotaNode = msgspec.structs.replace(TREE, children=(A, b))
    found = wrong((first, second, owner), tree)
    assert {rule for rule, *_ in found} <= {"notice"}
    return [text for _, _, text in found]


WRONG = ["it asks for a notice of 30000 ms, and did not get what its quota allows"]
GIVEN: dict[str, tuple[dict[str, Any], bool]] = {
    "what it asks for": ({"delete_at": GONE + 30 * S, "grace": 90 * S}, True),
    "none": ({"grace": 120 * S}, False),
    "less": ({"delete_at": GONE + 29 * S, "grace": 90 * S}, False),
    "more": ({"delete_at": GONE + 31 * S, "grace": 90 * S}, False),
    "less grace than is left": ({"delete_at": GONE + 30 * S, "grace": 80 * S}, False),
    "more grace than is left": ({"delete_at": GONE + 30 * S, "grace": 91 * S}, False),
    "as much grace as it likes": ({"delete_at": GONE + 30 * S}, False),
    "as much as its quota allows": ({"delete_at": GONE + 10 * S, "grace": 1 * S, "max_grace": "10s"}, True),
    "none where its quota has none": ({"grace": 1 * S, "max_grace": "0s"}, True),
    "none before it runs": ({"begin": goes, "grace": 120 * S}, True),
}


@pytest.mark.parametrize(("given", "right"), GIVEN.values(), ids=list(GIVEN))
def test_a_victim_has_its_notice(given: dict[str, Any], right: bool) -> None:
    assert told(**given) == ([] if right else WRONG)


def test_without_notice_its_grace_is_bounded_all_the_same() -> None:
    assert told(notice=0, grace=120 * S) == []
    assert told(notice=0) != []
