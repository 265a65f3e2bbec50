"""Builders of records in which jobs claim room that others have, for the auditor's tests."""

from typing import Any

from fairway.audit.auditor import Checker, Findings
from fairway.domain.events import claim_id
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Evict, Victim
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S, spec, submitted
from tests.spec.builders.records import heard

NODES = {"c1": {node: {GPU: 8, "pods": 110} for node in ("n1", "n2")}}
# Leaf a has 8 of the 16 guaranteed, b lends what it has.
A = QuotaNode("a", "root/a", min={GPU: 8}, max={GPU: 16})
B = QuotaNode("b", "root/b", max={GPU: 16})
TREE = QuotaNode("root", "root", min={GPU: 16}, max={GPU: 16}, children=(A, B))
WHY = Reason(Code.RECLAIMED, "its room is for another one")
S8 = (Slot("Worker", "n1", 1),)
MINUTE = 60 * S


def waiting(name: str, leaf: str, after: int = S, pods: int = 1, **more: Any) -> Life:
    """A job of so many pods of 8 GPUs."""
    life = submitted(name).then(wire.Admitted, after=after, attempt=1, spec=spec(name, pods, **more))
    return life.then(wire.Queue, queue="gold", leaf=("root", f"root/{leaf}"), enqueued_at=life.at)


def goes(life: Life, node: str = "n1", after: int = S, kept: bool = False) -> Life:
    slots = (Slot("Worker", node, 1),)
    life.then(wire.Dequeued, after=after, path=life.now.leaf, charge={GPU: 8, "kube-queue/max-jobs": 1}, kept=kept)
    life.then(wire.Placed, cluster="c1", slots=slots)
    life.then(wire.Reserved, cluster="c1", slots=slots, expires_at=life.at + MINUTE)
    return life


def runs(life: Life, node: str = "n1") -> Life:
    return goes(life, node).then(wire.Dispatched, cluster="c1", uid=life.name).then(wire.Running, cluster="c1")


def claims(life: Life, at: int, cause: Cause = Cause.RECLAIM, node: str = "n1") -> Life:
    life.then(wire.Claimed, after=at - life.at, claim=1, causes=(cause,), level=2, until=at + 30 * S)
    slots = (Slot("Worker", node, 1),)
    return life.then(wire.Nominated, cluster="c1", slots=slots, victims=1, evicted=1, claim=1, until=at + 3 * MINUTE)


def evicted(life: Life, by: Life, at: int, cause: Cause = Cause.RECLAIM, **queue: Any) -> Life:
    """And back in its place, with nothing left of it."""
    claim = claim_id(by.name, by.now.attempt, 1)
    life.then(wire.Evicted, after=at - life.at, cluster="c1", why=WHY, claim=claim, right=cause)
    number = life.now.attempt
    life.then(wire.Recall, after=0, cluster="c1", why=WHY, grace=120 * S)
    back = {"queue": "gold", "leaf": life.now.leaf, "enqueued_at": life.now.enqueued_at, "attempt": number + 1}
    life.then(wire.Queue, after=0, why=WHY, **{**back, **queue})
    return life.then(wire.Removed, cluster="c1", attempt=number)


AT = T0 + MINUTE


def reclaimed(**queue: Any) -> tuple[Life, Life, Life]:
    """Two jobs of b fill the fleet; one of a, within its min, gets the room of the second."""
    first = runs(waiting("first", "b"), "n2")
    second = runs(waiting("second", "b", after=2 * S))
    owner = claims(waiting("owner", "a", after=10 * S), AT)
    evicted(second, owner, AT + 2 * S, **queue)
    goes(owner, after=10 * S)
    return first, second, owner


def decided(victim: str = "second", **fields: Any) -> Evict:
    one = Victim(victim, 1, "c1", Cause.RECLAIM, **fields)
    head = {"job": "owner", "tenant": "team-a", "attempt": 1, "claim": 1}
    return Evict(**head, cluster="c1", slots=S8, victims=(one,))


def found(lives: tuple[Life, ...], tree: QuotaNode | None = TREE, *decisions: Evict) -> Findings:
    checker = Checker(NODES, tree)
    for one in decisions or (decided(),):
        checker.decided(one)
    for spoken in heard(*lives):
        checker.hear(spoken)
    return checker.findings()


def wrong(*given: Any) -> list[tuple[str, str, str]]:
    return [(one.rule, one.job, one.text) for one in found(*given).violations if one.rule != "reason"]
