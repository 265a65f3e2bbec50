"""Koordinator as a simulated member has it: figures that follow what online pods really use, late and in steps, and the
koordlets that take pods away where there is less than they take.
"""

import asyncio
import math
from collections import Counter
from random import Random

from fairway.lab.simulation.idle.member import MOST_CPU, IdleMember
from fairway.lab.simulation.members.pods import NODE

# Percent of the most that a node lists: by day, by night, and what one online pod uses.
_NIGHT = 100
_DAY = 70
_ONLINE_USE = 10
# Figures change in such steps.
_STEP = 10
# How often each happens when a node is looked at.
_ONLINE_COMES = 0.2
_SPIKE = 0.04
_OUTAGE = 0.005
_STALE = 0.08


class BatchFigures:
    """Of one member. A day of its own lasts half of the `seconds` of trouble, half an hour at least."""

    def __init__(self, member: IdleMember, seed: int, seconds: float, drawn: Counter[str]) -> None:
        self._member = member
        self._rng = Random(f"idle {seed} {member.name}")
        self._seconds = seconds
        self._day = max(1800.0, seconds / 2)
        self._drawn = drawn
        # Until when each node uses so much, lists what it did, and is short without consequences.
        self._spikes: dict[str, tuple[float, int]] = {}
        self._stale: dict[str, float] = {}
        self._patience: dict[str, float] = {}

    async def live(self) -> None:
        """Returns when the time of trouble is over; then everything is idle."""
        nodes = sorted(one.key.name for one in self._member.every(NODE))
        end = self._now() + self._seconds
        while self._now() < end:
            await asyncio.sleep(self._rng.uniform(5.0, 30.0))
            if self._rng.random() < _OUTAGE:
                self._spike(nodes, 0)
            for node in nodes:
                self._look_at(node)
        for node in nodes:
            self._member.list_batch(node, _NIGHT)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _look_at(self, node: str) -> None:
        rng = self._rng
        if rng.random() < _ONLINE_COMES:
            self._drawn["online"] += 1
            self._member.online(rng.choice((20.0, 120.0, 600.0)))
        if rng.random() < _SPIKE:
            self._spike([node], rng.choice((0, 10, 30)))
        idle = self._idle(node)
        self._listed(node, idle)
        self._koordlet(node, idle)

    def _spike(self, nodes: list[str], percent: int) -> None:
        """Online pods use all but so much for a while."""
        self._drawn["batch_fall"] += 1
        until = self._now() + self._rng.choice((20.0, 90.0, 400.0))
        self._spikes |= dict.fromkeys(nodes, (until, percent))

    def _idle(self, node: str) -> int:
        """How much there really is, in percent."""
        until, most = self._spikes.get(node, (0.0, _NIGHT))
        # Nodes are not busy at the same time.
        turn = 2 * math.pi * (self._now() / self._day + int(node[1:]) / 8)
        level = (_NIGHT + _DAY + (_NIGHT - _DAY) * math.cos(turn)) / 2 - _ONLINE_USE * self._member.online_on(node)
        if self._now() < until:
            level = min(level, most)
        return max(0, int(level) // _STEP * _STEP)

    def _listed(self, node: str, idle: int) -> None:
        """The node lists it, or goes on with an old figure for up to five minutes."""
        if self._now() < self._stale.get(node, 0.0):
            return
        if self._rng.random() < _STALE:
            self._drawn["batch_stale"] += 1
            self._stale[node] = self._now() + self._rng.uniform(30.0, 300.0)
            return
        self._member.list_batch(node, idle)

    def _koordlet(self, node: str, idle: int) -> None:
        """Pods may be short for a while; then some of them go, whatever the node lists."""
        most = MOST_CPU * idle // 100
        if self._member.taken(node) <= most:
            self._patience.pop(node, None)
            return
        until = self._patience.setdefault(node, self._now() + self._rng.choice((0.0, 20.0, 90.0)))
        if self._now() >= until:
            self._drawn["shed"] += self._member.shed(node, most, self._rng)
