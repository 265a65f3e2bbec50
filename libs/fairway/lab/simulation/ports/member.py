"""A member as one process reaches it: calls that fail, watches that stall, break and list again."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from fairway.lab.simulation.members.member import SimulatedMember
from fairway.lab.simulation.people.faults import FaultInjector
from fairway.lab.simulation.process import SimulatedProcess
from fairway.runtime.cluster_port import Applied, Change, ClusterRefused

Json = dict[str, Any]
T = TypeVar("T")
# What an API server answers now and then to anybody: outcome known, nothing done.
_REFUSALS = ("TooManyRequests", "InternalError", "Conflict")


class MemberPort:
    def __init__(self, process: SimulatedProcess, member: SimulatedMember, weather: FaultInjector) -> None:
        self.name = member.name
        self._process = process
        self._member = member
        self._weather = weather

    async def _call(self, effect: Callable[[], Awaitable[T]]) -> T:
        if self._weather.happens(self._weather.profile.refused):
            code = self._weather.rng.choice(_REFUSALS)
            raise ClusterRefused(code, f"{self.name} says {code}")
        return await self._process.call(effect, self.name)

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Applied:
        return await self._call(lambda: self._member.apply(kind, manifest, level))

    async def delete(self, kind: str, namespace: str, name: str, labels: dict[str, str], wait_s: float) -> bool:
        return await self._call(lambda: self._member.delete(kind, namespace, name, labels, wait_s))

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        return await self._call(lambda: self._member.get(kind, namespace, name))

    async def patch(
        self, kind: str, namespace: str, name: str, body: Json | list[Json], subresource: str = ""
    ) -> Json | None:
        return await self._call(lambda: self._member.patch(kind, namespace, name, body, subresource))

    async def create(self, kind: str, manifest: Json) -> None:
        await self._call(lambda: self._member.create(kind, manifest))

    async def review(self, kind: str, body: Json) -> Json:
        return await self._call(lambda: self._member.review(kind, body))

    async def discard(self, kind: str, namespace: str, labels: dict[str, str], name: str = "") -> None:
        await self._call(lambda: self._member.discard(kind, namespace, labels, name))

    async def drop(self, kind: str, namespace: str, name: str) -> None:
        await self._call(lambda: self._member.drop(kind, namespace, name))

    async def served(self) -> tuple[str, ...]:
        return await self._call(self._member.served)

    def watch(self, kind: str, selector: str = "", namespace: str = "") -> AsyncIterator[Change]:
        return self._watched(kind, selector, namespace)

    async def _watched(self, kind: str, selector: str, namespace: str) -> AsyncGenerator[Change, None]:
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
        await asyncio.sleep(self._weather.delay())
        await self._process.gate()
        while self._member.away:
            await asyncio.sleep(self._weather.rng.uniform(0.5, 3.0))
            await self._process.gate()

    async def _carried(self) -> None:
        """A watch may stall and say nothing of it; what it had to tell comes later."""
        if self._weather.happens(self._weather.profile.stalls):
            await asyncio.sleep(self._weather.rng.uniform(1.0, 60.0))
            await self._process.gate()

    async def close(self) -> None:
        return None
