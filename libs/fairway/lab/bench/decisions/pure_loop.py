"""The reference of `ratio_to_pure`: a choice as bare compiled loops, for how much a decision adds to that.

A fleet of its own, half used, and gangs of one shape each in 20 shapes, with the work that no choice can do without:
the shape is counted anew on the nodes that were touched since it was asked about last, every cluster gets a verdict and
a score, and the best one is filled node by node; a gang that was placed takes its room, and an earlier one gives its
own back. No job, no policy, no constraint, no message, no record.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import register_jitable

from fairway.placement.loops.layout import Byte1, Int1, Int2
from fairway.placement.loops.signatures import signature

_SHAPES = 20
# Gangs that run at a time, beyond which one ends for each that comes.
_RUNNING = 200
_MOST_SLOTS = 256
# More pods than any node takes; a gang of so many fits nowhere.
_BIG = 1 << 39
_LOOP: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
_INNER: dict[str, Any] = {"error_model": "numpy", "forceinline": True}
FITS, RULED_OUT, NOT_ENOUGH, FRAGMENTED = range(4)


class PureFleet(NamedTuple):
    """Free amounts by node, which cluster each node is in, where each cluster's nodes start, and by cluster the sums of
    what is free, whether it is allowed, what it has of the first resource and how much of that is used. The journal has
    the nodes that were touched."""

    free: Int2
    home: Int1
    start: Int1
    sums: Int2
    allowed: Byte1
    alloc: Int1
    used: Int1
    journal: Int1


class PureGang(NamedTuple):
    """What one pod asks for and how many are needed; of its shape, pods that fit by node, and by cluster those pods and
    the nodes that take any."""

    ask: Int1
    need: int
    per: Int1
    total: Int1
    nodes: Int1


class PureAnswer(NamedTuple):
    """By cluster a verdict and a score; of the best one the nodes that are filled and how many pods go on each."""

    verdict: Byte1
    score: Int1
    slots: Int2


def pods_on(free: Int2, node: int, ask: Int1) -> int:
    least = _BIG
    for one in range(len(ask)):
        if ask[one] > 0:
            least = min(least, max(free[node, one], 0) // ask[one])
            if least == 0:
                return 0
    return int(least)


def count_anew(fleet: PureFleet, gang: PureGang, begin: int, end: int) -> None:
    for at in range(begin, end):
        node = fleet.journal[at]
        now = pods_on(fleet.free, node, gang.ask)
        before = gang.per[node]
        if now != before:
            cluster = fleet.home[node]
            gang.total[cluster] += now - before
            gang.nodes[cluster] += (now > 0) - (before > 0)
            gang.per[node] = now


def judged(fleet: PureFleet, gang: PureGang, cluster: int, answer: PureAnswer) -> int:
    """The score; -1 where it does not fit."""
    if not fleet.allowed[cluster]:
        answer.verdict[cluster] = RULED_OUT
        return -1
    total = gang.total[cluster]
    if total < gang.need:
        by_sum = _BIG
        for one in range(len(gang.ask)):
            if gang.ask[one] > 0:
                by_sum = min(by_sum, fleet.sums[cluster, one] // gang.ask[one])
        answer.verdict[cluster] = FRAGMENTED if by_sum >= gang.need else NOT_ENOUGH
        return -1
    answer.verdict[cluster] = FITS
    tightness = gang.need * 100 // total
    left = 100 - fleet.used[cluster] * 100 // fleet.alloc[cluster]
    return int(10 * tightness + 3 * left + (100 if gang.nodes[cluster] * 8 >= gang.need else 0))


def decide(fleet: PureFleet, gang: PureGang, begin: int, end: int, answer: PureAnswer) -> tuple[int, int]:
    """The best cluster or -1, and on how many of its nodes the gang goes."""
    count_anew(fleet, gang, begin, end)
    best = -1
    for cluster in range(len(gang.total)):
        answer.score[cluster] = judged(fleet, gang, cluster, answer)
        if answer.score[cluster] >= 0 and (best < 0 or answer.score[cluster] > answer.score[best]):
            best = cluster
    filled = 0
    if best >= 0:
        left = gang.need
        for node in range(fleet.start[best], fleet.start[best + 1]):
            if left > 0 and gang.per[node] > 0:
                answer.slots[filled, 0] = node
                answer.slots[filled, 1] = min(gang.per[node], left)
                left -= answer.slots[filled, 1]
                filled += 1
    return best, filled


def take(fleet: PureFleet, slots: Int2, ask: Int1, sign: int, at: int) -> int:
    """The pods on these nodes take their room, or give it back (-1). The nodes are written in the journal from this
    place on; its new end is returned."""
    for which in range(len(slots)):
        node = slots[which, 0]
        for one in range(len(ask)):
            amount = sign * ask[one] * slots[which, 1]
            fleet.free[node, one] -= amount
            fleet.sums[fleet.home[node], one] -= amount
        fleet.journal[at + which] = node
    return at + len(slots)


class PureLoop:
    """Compiled when it is made (two seconds): after placement's own loops are loaded, which have the compiler set to
    the processor that they were made for."""

    def __init__(self) -> None:
        for function in (pods_on, count_anew, judged):
            register_jitable(**_INNER)(function)
        self._decide = _compiled(decide)
        self._take = _compiled(take)

    def us_per_decision(self, clusters: int, nodes: int, decisions: int) -> float:
        """Of processor time."""
        draw = np.random.default_rng(1)
        fleet = _fleet(draw, clusters, nodes, 2 * decisions * _MOST_SLOTS)
        gangs = [_gang(draw, clusters, nodes) for _ in range(_SHAPES)]
        none = np.zeros(clusters, np.int64)
        answer = PureAnswer(np.zeros(clusters, np.uint8), none, np.zeros((_MOST_SLOTS, 2), np.int64))
        end = clusters * nodes
        for gang in gangs:
            self._decide(fleet, gang._replace(need=_BIG), 0, end, answer)
        seen = [end] * _SHAPES
        running: list[tuple[Int2, Int1]] = []
        which = draw.integers(0, _SHAPES, decisions).tolist()
        ends = draw.random(decisions).tolist()
        began = time.thread_time_ns()
        for shape, ending in zip(which, ends, strict=True):
            gang = gangs[shape]
            best, filled = self._decide(fleet, gang, seen[shape], end, answer)
            seen[shape] = end
            if best >= 0:
                slots = answer.slots[:filled].copy()
                end = self._take(fleet, slots, gang.ask, 1, end)
                running.append((slots, gang.ask))
                if len(running) > _RUNNING:
                    slots, ask = running.pop(int(ending * len(running)))
                    end = self._take(fleet, slots, ask, -1, end)
        return (time.thread_time_ns() - began) / decisions / 1e3


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """As placement's own loops are: nothing counts who uses an array, nor looks at the types of what is given."""
    dispatcher: Any = numba.njit(**_LOOP)(function)
    dispatcher.compile(signature(function))
    (code,) = dispatcher.overloads.values()
    run: Callable[..., Any] = code.entry_point
    return run


def _fleet(draw: np.random.Generator, clusters: int, nodes: int, touched: int) -> PureFleet:
    """Nodes with up to 96 cores (in thousandths), 512 GiB, 8 GPUs and room for 110 pods free."""
    size = clusters * nodes
    amounts = [draw.integers(0, 96_000, size), draw.integers(0, 512, size), draw.integers(0, 9, size)]
    free = np.ascontiguousarray(np.stack([*amounts, np.full(size, 110)], 1), np.int64)
    start = np.arange(clusters + 1, dtype=np.int64) * nodes
    journal = np.zeros(size + touched, np.int64)
    journal[:size] = np.arange(size)
    return PureFleet(
        free=free,
        home=np.repeat(np.arange(clusters, dtype=np.int64), nodes),
        start=start,
        sums=np.add.reduceat(free, start[:-1]),
        allowed=np.ones(clusters, np.uint8),
        alloc=np.full(clusters, nodes * 96_000, np.int64),
        used=np.zeros(clusters, np.int64),
        journal=journal,
    )


def _gang(draw: np.random.Generator, clusters: int, nodes: int) -> PureGang:
    ask = np.array([draw.integers(1, 8) * 1000, draw.integers(4, 64), draw.integers(0, 5), 1], np.int64)
    per = np.zeros(clusters * nodes, np.int64)
    return PureGang(ask, int(2 ** draw.integers(0, 7)), per, np.zeros(clusters, np.int64), np.zeros(clusters, np.int64))
