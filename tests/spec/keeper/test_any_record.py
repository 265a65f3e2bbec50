"""Whatever is said in whatever order, and whenever a keeper looks, dies and begins again: no manifest of a job that has
not ended is touched, and in the end none is left of those that have."""

import asyncio
import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.adapters.memory.bus import MemoryBus
from fairway.domain.submission import Submission
from fairway.keeper.service import Keeper
from fairway.runtime.ports import Unreachable
from fairway.wire import flow
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import Life
from tests.spec.builders.told_record import DAY_MS, ToldRecord

_KEPT_DAYS = 2
_WHY = (Reason(Code.INVALID, "no"),)
STEPS = (
    *("submit", "submit", "answer", "answer", "refuse", "revise", "again", "end", "end"),
    *("a day", "a day", "acknowledge", "look", "look", "look", "die", "another"),
)


class _Now:
    def __init__(self) -> None:
        self.at = 1_700_000_000_000

    def now(self) -> int:
        return self.at

    async def sleep(self, seconds: float) -> None:
        return None


class _Breaking(MemoryBus):
    """Nobody answers when so many messages have been deleted."""

    lets = 1_000

    async def erase(self, stream: str, sequence: int) -> None:
        self.lets -= 1
        if self.lets < 0:
            raise Unreachable("the bus is away")
        await super().erase(stream, sequence)


class House:
    """`waiting` has no answer yet; `used` are the places of the manifests of each job that has not ended."""

    def __init__(self) -> None:
        self.clock = _Now()
        self.bus = _Breaking(self.clock)
        self.record = ToldRecord(self.bus, self.clock)  # a clock is a clock
        self.keepers = [self._keeper(), self._keeper()]
        self.waiting: list[tuple[Submission, int]] = []
        self.asked: list[Submission] = []
        self.used: dict[str, set[int]] = {}
        self.ended: list[tuple[int, set[int]]] = []
        self._count = 0

    def _keeper(self) -> Keeper:
        return self.record.keeper(_KEPT_DAYS)

    async def step(self, name: str, which: int) -> None:
        await getattr(self, f"_{name.replace(' ', '_')}")(which)
        there = {*await self.record.manifests()}
        assert not [job for job, places in self.used.items() if not places <= there], name
        assert {place for _, place in self.waiting} <= there, name

    async def _submit(self, which: int) -> None:
        self._count += 1
        self.waiting.append(await self.record.submit(f"job-{self._count}", f"c{self._count}"))
        self.asked.append(self.waiting[-1][0])

    async def _answered(self, which: int, kind: type[wire.JobMessage], **fields: Any) -> None:
        if not self.waiting:
            return
        asked, place = self.waiting.pop(which % len(self.waiting))
        ref = wire.ManifestRef(place, asked.digest, 1)
        life = self.record.lives[asked.job] = Life(asked.job)
        if kind is wire.Admitted:
            await self.record.admit(asked, ref)
            self.used[asked.job] = {place}
            return
        life.then(kind, attempt=1, manifest=ref, cause=asked.say.id, **fields)
        await self.record.say(life.said[-1][1], f"{asked.job}-1")
        self.ended.append((self.clock.at, {place}))

    async def _answer(self, which: int) -> None:
        await self._answered(which, wire.Admitted)

    async def _refuse(self, which: int) -> None:
        await self._answered(which, wire.Rejected, reasons=_WHY)

    async def _revise(self, which: int) -> None:
        if self.used:
            job = sorted(self.used)[which % len(self.used)]
            self._count += 1
            self.used[job].add(await self.record.revised(job, f"hunter2 {self._count}"))

    async def _again(self, which: int) -> None:
        if self.asked:
            await self.record.once_more(self.asked[which % len(self.asked)])

    async def _end(self, which: int) -> None:
        if self.used:
            job = sorted(self.used)[which % len(self.used)]
            self.ended.append((self.clock.at, self.used.pop(job)))
            await self.record.over(job)

    async def _a_day(self, which: int) -> None:
        self.clock.at += DAY_MS

    async def _acknowledge(self, which: int) -> None:
        """All but what waits for an answer, as admission does."""
        source = await self.bus.consume(*flow.consumer("admission"))
        waits = {place for _, place in self.waiting}
        source.redeliver()
        taken = source.take(1_000)
        source.ack([one for one in taken if one.sequence not in waits])

    async def _look(self, which: int) -> None:
        await self.keepers[which % 2].round()
        there = {*await self.record.manifests()}
        due = self.clock.at - _KEPT_DAYS * DAY_MS
        assert not [places for at, places in self.ended if at <= due and places & there]

    async def _die(self, which: int) -> None:
        self.bus.lets = which % 3
        with contextlib.suppress(Unreachable):
            await self.keepers[which % 2].round()
        self.bus.lets = 1_000

    async def _another(self, which: int) -> None:
        self.keepers[which % 2] = self._keeper()

    async def end(self) -> None:
        """Everything ends, and a keeper has long enough for all of it."""
        while self.waiting:
            await self._answer(0)
        while self.used:
            await self._end(0)
        for _ in range(3):
            await self._acknowledge(0)
            for _ in range(_KEPT_DAYS + 1):
                await self._a_day(0)
            await self._submit(0)
            await self._answer(0)
            await self._end(0)
            await self._look(0)
        await self._a_day(0)
        left = await self.record.manifests()
        assert len(left) <= 1, "but of the job that has ended just now"


@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 5)), max_size=60))
def test_any_record(steps: list[tuple[str, int]]) -> None:
    async def told() -> None:
        house = House()
        for name, which in steps:
            await house.step(name, which)
        await house.end()

    asyncio.run(told())


@pytest.mark.parametrize("seed", range(3))
async def test_a_long_one(seed: int) -> None:
    """As it goes for a while, with everything many times over."""
    house = House()
    for number in range(300):
        await house.step(STEPS[(number * 7 + seed + number // 11) % len(STEPS)], number + seed)
    assert house.ended
    await house.end()
