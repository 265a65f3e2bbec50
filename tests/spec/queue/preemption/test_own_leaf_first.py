"""A guaranteed job whose leaf's min is used by jobs of less priority: these go, and others only for what lacks then."""

from typing import Any

from fairway.domain.quota.tree import QuotaNode
from fairway.queue.decide import decide
from fairway.queue.view import Patience
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, SLOTS, T0, Life, S
from tests.spec.builders.views import events, of, told
from tests.spec.builders.waiting import flying, quota, room, waiting

NOW = T0 + 200 * S
MINE = ("root", "root/a")
THEIRS = ("root", "root/b")
# Leaf a is guaranteed two jobs of 8 GPUs, leaf b none.
LEAVES = tuple(QuotaNode(name, f"root/{name}", {GPU: least}) for name, least in (("a", 16), ("b", 0)))


def tree(gpus: int) -> QuotaNode:
    return QuotaNode("root", "root", {GPU: gpus}, {GPU: gpus}, children=LEAVES)


def running(name: str, leaf: tuple[str, ...], **more: Any) -> Life:
    life = flying(name, leaf=leaf, **more).then(wire.Placed, cluster="c1", slots=SLOTS)
    return life.then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=NOW)


def ask(mine: Life, gpus: int, low: int = 1) -> list[Any]:
    """So many jobs of less priority run in its own leaf, and two in the other one."""
    others = [running(f"low{number}", MINE) for number in range(low)]
    others += [running(f"b{number}", THEIRS) for number in range(2)]
    used: dict[str, int] = {}
    for life in others:
        leaf = "root/a" if life.name.startswith("low") else "root/b"
        for node in ("root", leaf):
            used[f"{node}|{GPU}"] = used.get(f"{node}|{GPU}", 0) + 8
    view = of(mine, *others, tree=tree(gpus), usage=used)
    return events(decide(view, told(Patience(at=NOW)), NOW))


def test_what_is_still_lacking_is_reclaimed_when_its_own_leaf_gives_what_is_beyond_its_min() -> None:
    """It needs 16 of a min of 16, of which another one has 8; both leaves together have all of the 24."""
    claimed, asked = ask(waiting("mine", why=quota("root"), priority=10, gpus=16), gpus=24)
    assert claimed.causes == (Cause.RECLAIM, Cause.PREEMPTION)
    assert asked.short == {f"root|{GPU}": 16, f"root/a|{GPU}": 8}
    assert claimed.short == {f"root|{GPU}": 16}
    assert asked.reclaimable == (GPU,)


def test_nobody_else_is_asked_where_those_of_its_own_leaf_give_enough() -> None:
    claimed, asked = ask(waiting("mine", why=quota("root"), priority=10, gpus=16), gpus=40, low=3)
    assert claimed.causes == (Cause.PREEMPTION,)
    assert asked.short == {f"root|{GPU}": 16}


def test_for_room_others_are_asked_when_those_of_its_own_leaf_were_not_enough() -> None:
    mine = waiting("mine", why=room(), priority=10, gpus=16)
    claimed, asked = ask(mine, gpus=100)
    assert (claimed.causes, asked.short) == ((Cause.PREEMPTION,), {})
    mine.then(wire.Claimed, claim=1, causes=(Cause.PREEMPTION,), until=NOW)
    mine.then(wire.Unclaimed, claim=1, why=Reason(Code.NO_VICTIMS, "none"), again=NOW)
    claimed, asked = ask(mine, gpus=100)
    assert claimed.causes == (Cause.RECLAIM, Cause.PREEMPTION)
    assert (claimed.short, asked.short) == ({}, {f"root/a|{GPU}": 8})
