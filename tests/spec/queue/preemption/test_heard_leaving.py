"""Between the answer to a claim and the word of all who leave for it: what they have yet to give back of the quota
counts as charged, and nobody asks for it beside the claim."""

import pytest

from fairway.domain.events import claim_id
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S
from tests.spec.builders.waiting import quota, waiting
from tests.spec.queue.preemption.test_claims import MINE, NOW, THEIRS, ask, lent

WHY = Reason(Code.RECLAIMED, "its room is for another one")
OTHER = ("root", "root/c")
TREE = QuotaNode(
    "root",
    "root",
    {GPU: 40},
    {GPU: 40},
    children=tuple(QuotaNode(name, f"root/{name}", {GPU: least}) for name, least in (("a", 24), ("b", 8), ("c", 8))),
)


def answered(ago: int) -> Life:
    """A claim for 16 GPUs, of which two others have to leave."""
    life = waiting("first", gpus=16, leaf=MINE, why=quota("root"))
    short = {f"root|{GPU}": 16}
    life.then(wire.Claimed, claim=1, causes=(Cause.RECLAIM,), level=2, until=NOW + 30 * S, short=short)
    slots = (wire.Slot("Worker", "n1", 1),)
    place = {"cluster": "c1", "slots": slots, "victims": 2, "evicted": 2, "until": NOW + 60 * S}
    return life.then(wire.Nominated, after=NOW - life.at - ago, claim=1, **place)


def leaves(life: Life) -> Life:
    """A moment ago, for the first claim: it waits once more, and has given back its quota."""
    claim = claim_id("first", 1, 1)
    life.then(wire.Evicted, after=NOW - life.at - 50, cluster="c1", why=WHY, claim=claim, right=Cause.RECLAIM)
    life.then(wire.Recall, after=0, cluster="c1", why=WHY)
    return life.then(wire.Queue, after=0, attempt=2, queue="gold", leaf=THEIRS, enqueued_at=T0, why=WHY)


def asked(leaf: tuple[str, ...], heard: int, ago: int = 100) -> list[dict[str, int]]:
    """What the next one is short of, when so many of the two were heard to leave."""
    victims = lent(5)
    for life in victims[5 - heard :]:
        leaves(life)
    second = waiting("second", 1, leaf=leaf, why=quota("root"))
    said = ask(answered(ago), second, *victims, tree=TREE)
    return [one.short for one in said if one.verb == "relieve"]


@pytest.mark.parametrize("heard", [0, 1, 2])
def test_another_leaf_asks_for_what_it_needs_itself(heard: int) -> None:
    assert asked(OTHER, heard) == [{f"root|{GPU}": 8}]


@pytest.mark.parametrize(("heard", "said"), [(0, []), (1, []), (2, [{f"root|{GPU}": 8}])])
def test_its_own_leaf_asks_for_nothing_until_all_are_heard(heard: int, said: list[dict[str, int]]) -> None:
    assert asked(MINE, heard) == said
