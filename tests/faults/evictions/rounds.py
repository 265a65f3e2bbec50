"""The messages of an eviction as they are said, and rounds in which somebody dies at one of them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count

import msgspec

from fairway.lab.traces.fleet import record
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.preemption import evictions
from tests.faults.arena.by_hand import end
from tests.faults.arena.load import Load
from tests.faults.arena.scene import Scene
from tests.faults.evictions.demand import owned, urgent

# Of which verbs each eviction has one at least, in the order in which they are said.
VERBS = ("claimed", "relieve", "evict", "nominated", "evicted", "recall", "removed")
_relief = msgspec.json.Decoder(evictions.Message).decode


class Rounds:
    """In each of them the owner asks for two nodes and somebody urgent for one: all of the fleet is in use. `heard` are
    the verbs of all that was said since they began."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.asked: list[str] = []
        self.heard: set[str] = set()
        self._numbers = count()
        self._waiting: dict[str, Callable[[], None]] = {}
        scene.listeners.append(lambda _, message: self._said(message))

    def _said(self, message: wire.JobMessage) -> None:
        self.heard.add(message.verb)
        if (told := self._waiting.pop(message.verb, None)) is not None:
            told()

    async def hear_of_relief(self) -> None:
        async for one in record(self.scene.bus, subjects.RELIEF):
            self._said(_relief(one.data))

    def said(self, verb: str, then: Callable[[], None] = lambda: None) -> asyncio.Event:
        """The event is set, and `then` called, when that is next said."""
        there = asyncio.Event()

        def told() -> None:
            then()
            there.set()

        self._waiting[verb] = told
        return there

    async def ask(self) -> None:
        load = self.scene.load
        assert isinstance(load, Load)
        number = next(self._numbers)
        for row in (owned(f"own-{number}"), urgent(f"urgent-{number}")):
            self.asked.append(await load.submit(row))

    async def full(self) -> None:
        """The fleet is in use as a whole, and others wait."""
        await self.scene.until(lambda: self.scene.arena.members.running() >= 15, "the borrower has all of it")

    async def reached(self, there: asyncio.Event, what: str) -> None:
        await self.scene.until(there.is_set, what)

    async def answered(self) -> None:
        """All that was asked for until now has run."""
        await self.scene.until(lambda: {*self.asked} <= self.scene.ended, f"{self.asked} have run")

    def borrowing(self) -> list[str]:
        """The jobs of the borrower that run now."""
        running = [self.scene.arena.members.on(name) for name in self.scene.arena.kube.clusters]
        return sorted({job for attempts in running for job, _ in attempts} - {*self.asked})

    async def some_end(self) -> None:
        jobs = self.borrowing()[:4]
        end(self.scene, jobs)
        await self.scene.until(lambda: {*jobs} <= self.scene.ended, f"{jobs} have ended")

    async def all_end(self) -> None:
        """What was asked for, and then what has come back of the borrower's."""
        await self.answered()
        self.scene.load.stop()
        told: set[str] = set()

        def over() -> bool:
            end(self.scene, [job for job in self.borrowing() if job not in told])
            told.update(self.borrowing())
            return self.scene.over()

        await self.scene.until(over, "all have ended")


@asynccontextmanager
async def rounds(scene: Scene) -> AsyncIterator[Rounds]:
    made = Rounds(scene)
    follow = asyncio.create_task(made.hear_of_relief())
    try:
        yield made
    finally:
        follow.cancel()


async def killed_when_heard(played: Rounds, service: str, verb: str) -> None:
    """As soon as anybody says that."""
    scene = played.scene
    await played.full()
    pid = scene.arena.processes[service].pid
    there = played.said(verb, lambda: os.kill(pid, signal.SIGKILL))
    await played.ask()
    await played.reached(there, f"{verb} is said")
    await scene.arena.processes[service].kill()
    await scene.arena.start_process((service,))


async def killed_while_saying(played: Rounds, service: str, subject: str) -> None:
    """With these words on their way to NATS, which never hears them."""
    scene = played.scene
    await played.full()
    link = scene.arena.links[f"{service}>nats"]
    pid = scene.arena.processes[service].pid
    link.catch(subject.encode(), lambda: os.kill(pid, signal.SIGKILL))
    await played.ask()
    await played.reached(link.caught, f"{service} says {subject}")
    await scene.arena.processes[service].kill()
    link.reset()
    link.mend()
    await scene.arena.start_process((service,))
