"""Where the hub's process is in its work, as its servers see it, and how it is killed at just that step."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import NamedTuple

from aiohttp import web

from fairway.lab.kubereal.members import HUB
from fairway.lab.kubesim.api.store import Event
from tests.faults.arena.arena import Arena
from tests.faults.arena.links import Link

Reached = Callable[[], None]
# Arms a step: once it is reached the function is called, at that very moment.
Step = Callable[["HubProcess", Reached], None]
_WRITES = ("POST", "PATCH", "PUT", "DELETE")


class Request(NamedTuple):
    method: str
    path: str


class HubProcess:
    """One process of the hub's service, by its name in the arena; `asked` is what it has asked of the hub so far."""

    def __init__(self, arena: Arena, name: str = HUB) -> None:
        self.arena = arena
        self.name = name
        self.asked: list[Request] = []
        self.witnesses: list[Callable[[Request], None]] = []
        self.hub = arena.kube.clusters[HUB]
        self.hub.faults.witnesses.append(self._see)

    def link(self, server: str) -> Link:
        return self.arena.links[f"{self.name}>{server}"]

    @property
    def writes(self) -> int:
        return sum(one.method in _WRITES for one in self.asked)

    def signal(self, number: int) -> None:
        os.kill(self.arena.processes[self.name].pid, number)

    def _see(self, request: web.BaseRequest) -> None:
        peer = request.transport.get_extra_info("peername") if request.transport is not None else None
        if peer is not None and self.link(HUB).carries(peer[1]):
            one = Request(request.method, request.path)
            self.asked.append(one)
            for told in tuple(self.witnesses):
                told(one)

    def kill_at(self, step: Step) -> asyncio.Event:
        """The event is set when the process was killed there."""
        return self.tell_at(step, lambda: self.signal(signal.SIGKILL))

    def tell_at(self, step: Step, then: Reached = lambda: None) -> asyncio.Event:
        """The event is set when the process is there, for the first time from now on."""
        there = asyncio.Event()

        def reached() -> None:
            if not there.is_set():
                then()
                there.set()

        step(self, reached)
        return there

    def mend(self) -> None:
        """What was caught on its way goes on."""
        for server in ("nats", "valkey"):
            self.link(server).mend()

    async def again(self) -> None:
        """Starts it once more, when it was killed: what it had on its way is lost with it."""
        await self.arena.processes[self.name].kill()
        for server in ("nats", "valkey"):
            self.link(server).reset()
        self.mend()
        await self.arena.start_process((HUB,), self.name)


def on_its_way(server: str, words: bytes) -> Step:
    """It says these words to NATS or Valkey, which never hear them."""

    def arm(process: HubProcess, reached: Reached) -> None:
        process.link(server).catch(words, reached)

    return arm


def written(storage: str, fits: Callable[[Event], bool]) -> Step:
    """The hub has taken what it wrote, and has not answered yet."""

    def arm(process: HubProcess, reached: Reached) -> None:
        def look(event: Event) -> None:
            if fits(event):
                reached()

        process.hub.api.store.listen(storage, look)

    return arm


def asks(method: str, path: str) -> Step:
    """It asks this of the hub, and has no answer yet."""

    def arm(process: HubProcess, reached: Reached) -> None:
        def look(request: Request) -> None:
            if request == (method, path):
                reached()

        process.witnesses.append(look)

    return arm
