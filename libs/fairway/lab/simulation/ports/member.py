"""A member as one process reaches it: calls that fail, watches that stall, break and list again."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Protocol

from fairway.lab.simulation.people.faults import FaultInjector
from fairway.lab.simulation.process import SimulatedProcess
from fairway.runtime.cluster_port import Change, ClusterRefused

# What an API server answers now and then to anybody: outcome known, nothing done.
_REFUSALS = ("TooManyRequests", "InternalError", "Conflict")


class Reachable(Protocol):
    """A simulated cluster: whether it is `away`, and how often its API was `lost`."""

    name: str
    away: bool
    lost: int

    def watch(self, kind: str, selector: str = "", namespace: str = "") -> AsyncGenerator[Change, None]: ...


class MemberPort:
    def __init__(self, process: SimulatedProcess, member: Reachable, faults: FaultInjector) -> None:
        self.name = member.name
        self._process = process
        self._member = member
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        """Whatever a member can be asked for; each call may be refused, and passes the gate of the process."""
        getattr(self._member, name)

        async def call(*given: Any, **named: Any) -> Any:
            asked = self._asked(name, asyncio.get_running_loop().time())
            if self._faults.happens(self._faults.profile.refused):
                code = self._faults.rng.choice(_REFUSALS)
                raise ClusterRefused(code, f"{self.name} says {code}")
            return await self._process.call(lambda: asked(*given, **named), self.name)

        return call

    def _asked(self, name: str, now: float) -> Callable[..., Awaitable[Any]]:
        """The call itself, that the process sets out to make now."""
        asked: Callable[..., Awaitable[Any]] = getattr(self._member, name)
        return asked

    async def watch(self, kind: str, selector: str = "", namespace: str = "") -> AsyncGenerator[Change, None]:
        """Lists, follows, and lists again after every loss of the API: what is gone by then is told as gone."""
        known: dict[tuple[str, str], Change] = {}
        while True:
            await self._reached()
            losses = self._member.lost
            listed = False
            now = set[tuple[str, str]]()
            async with aclosing(self._member.watch(kind, selector, namespace)) as changes:
                async for change in changes:
                    await self._process.gate()
                    if change.synced:
                        listed = True
                        for place in sorted(known.keys() - now):
                            yield Change(kind, *place, known.pop(place).manifest, gone=True)
                        yield change
                        continue
                    if losses != self._member.lost:
                        break
                    await self._carried()
                    place = (change.namespace, change.name)
                    if not listed:
                        now.add(place)
                    (known.pop(place, None) if change.gone else known.update({place: change}))
                    yield change

    async def _reached(self) -> None:
        await asyncio.sleep(self._faults.delay())
        await self._process.gate()
        while self._member.away:
            await asyncio.sleep(self._faults.rng.uniform(0.5, 3.0))
            await self._process.gate()

    async def _carried(self) -> None:
        """A watch may stall and say nothing of it; what it had to tell comes later."""
        if self._faults.happens(self._faults.profile.stalls):
            await asyncio.sleep(self._faults.rng.uniform(1.0, 60.0))
            await self._process.gate()

    async def close(self) -> None:
        return None
