"""Jobs in a queue, each with what matters about it."""

from typing import Any

import msgspec

from fairway.domain.queue_policy import QueuePolicy, QueueSpec
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, SLOTS, T0, Life, S, spec

BLOCK = {"gold": QueueSpec("gold", QueuePolicy.BLOCK)}
LEAF = ("root", "root/a")


def waiting(name: str, at: int = 0, **more: Any) -> Life:
    """In queue `gold` since `at` seconds. `why` is what it waits for, `gpus` of each of its `pods`, `priority`,
    `queue`, `leaf`, `verdicts`, `freed` if they matter."""
    place = {"queue": more.pop("queue", "gold"), "leaf": more.pop("leaf", LEAF), "enqueued_at": T0 + at * S}
    back = {name: more.pop(name) for name in ("why", "verdicts", "freed") if name in more}
    life = Life(name).then(wire.Admitted, attempt=1, spec=spec(name, **{"pods": 1, "gpus": 8, **more}))
    life.then(wire.Queue, **place)
    if not back:
        return life
    if back["why"].code in (Code.WAITING_FOR_QUOTA, Code.BEHIND_HEAD):
        return life.then(wire.Blocked, why=back["why"])
    return life.then(wire.Dequeued).then(wire.Queue, **place, **back)


def flying(name: str, at: int = 0, **more: Any) -> Life:
    asked = {GPU: 8, "kube-queue/max-jobs": 1}
    return waiting(name, at, **more).then(wire.Dequeued, path=LEAF, charge=asked)


def held(name: str, at: int = 0, **more: Any) -> Life:
    life = flying(name, at, **more).then(wire.Placed, cluster="c1", slots=SLOTS)
    return life.then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=life.at + 60 * S)


def quota(node: str = "root/a") -> Reason:
    return Reason(Code.WAITING_FOR_QUOTA, "none left", node)


def room(code: Code = Code.WAITING_FOR_ROOM) -> Reason:
    return Reason(code, "no room")


def freed(gpus: int, cluster: str = "c1", **more: Any) -> fleet.Freed:
    """So many GPUs in all, on one node."""
    said = fleet.Freed(cluster=cluster, free={GPU: gpus, "pods": 110}, largest={GPU: gpus, "pods": 110}, count=1)
    return msgspec.structs.replace(said, **more)
