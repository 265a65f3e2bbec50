"""One fault: a fleet under a steady load, what is done to it, and what became of every job."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import msgspec
from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.fleet.decided_again import decided_again, summaries
from fairway.lab.fleet.fleet import FleetPlan
from fairway.lab.traces.fleet import allocatable, record
from fairway.lab.traces.trace import GPU
from fairway.operate.replay.report import DecisionReport
from fairway.process.pipeline import HUB as HUB_SERVICE
from fairway.process.pipeline import STAGES
from fairway.process.servers.streams import provisioned
from fairway.runtime.ports import Unreachable
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.workloads.settings.quota_trees import read_quota_tree
from tests.faults.arena.arena import Arena
from tests.faults.arena.beginning import all_reported, configure
from tests.faults.arena.heard import Heard
from tests.faults.arena.held import held, remains
from tests.faults.arena.http_load import HttpLoad
from tests.faults.arena.load import STEADY, Demand, Load
from tests.faults.arena.verdict import Reading, Verdict

# Each stage in a process of its own, and the hub's service; the members' agents are one process more.
EACH = (("agent",), (HUB_SERVICE,), *((stage,) for stage in STAGES))
# All in four processes, where it matters little which of them is hit.
FOUR = (("agent", "watcher"), ("admission", "quota", "queue"), ("global-scheduler", "reserver"), ("propagator",))
_CLUSTERS = equal_clusters(3, nodes=3, gpus=8)
# What a fleet on a busy machine may take for anything before it is said to be stuck.
_PATIENCE_S = 90.0
_message = msgspec.json.Decoder(wire.Message).decode
Condition = Callable[[], bool | Awaitable[bool]]


class Setup(Struct, frozen=True):
    """`cancelled` is the share of the jobs that are, in time or not. Unless told otherwise all that was decided is
    decided again at the end, and has to be the same. Of the load so many jobs as `at_once` says are there at most that
    have not ended (0: any number); `after` the fault so many more have to end before it stops."""

    groups: tuple[tuple[str, ...], ...] = FOUR
    nats_servers: int = 1
    a_second: float = 8.0
    cancelled: float = 0.1
    settings: dict[str, str] = {}
    over_http: bool = False
    decided_again: bool = True
    demand: Demand = STEADY
    at_once: int = 0
    after: int = 8


class Scene(Heard):
    """`arena` under load, and what the record says meanwhile: `listeners` are told of each word, by its id."""

    def __init__(self, arena: Arena, bus: NatsBus, load: Load | HttpLoad) -> None:
        super().__init__()
        self.arena = arena
        self.bus = bus
        self.load = load
        self.listeners: list[Callable[[str, wire.JobMessage], None]] = []
        self._said: list[bytes] = []

    async def follow(self) -> None:
        async for one in record(self.bus, subjects.JOBS):
            self._said.append(one.data)
            message = _message(one.data)
            self.hear(message)
            for told in self.listeners:
                told(one.id, message)

    async def until(self, holds: Condition, what: str, seconds: float = _PATIENCE_S) -> None:
        """AssertionError that says what did not come true in so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                while not await _true(holds()):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"not within {seconds:.0f} s: {what}") from None

    async def flows(self, ended: int = 8) -> None:
        """So many more jobs have ended: the fleet is at work."""
        enough = len(self.ended) + ended
        await self.until(lambda: len(self.ended) >= enough, f"{ended} more jobs have ended")

    async def waits(self, sent: int = 8) -> None:
        """So many more jobs were submitted, whatever becomes of them."""
        enough = len(self.load.sent) + sent
        await self.until(lambda: len(self.load.sent) >= enough, f"{sent} more jobs were submitted")

    async def all_end(self) -> None:
        """Of what was submitted until now, everything has ended."""
        sent = set(self.load.sent)
        await self.until(lambda: sent <= self._over(), "all that was submitted has ended")

    def over(self) -> bool:
        """Whether every job that is known has ended, and every one of the load is known."""
        return set(self.load.sent) <= self._over() and self.cause.keys() <= self.ended

    def _over(self) -> set[str]:
        """Of what has ended, the jobs and the messages that they came of."""
        return {*self.ended, *(self.cause.get(job, "") for job in self.ended)}

    async def says(self, words: bytes, seconds: float = _PATIENCE_S) -> None:
        """Some event from now on has these words."""
        begun = len(self._said)
        await self.until(lambda: any(words in one for one in self._said[begun:]), f"{words.decode()} is said", seconds)

    async def refused(self, tries: int = 10) -> None:
        """So many more submissions were not taken."""
        enough = self.load.refused + tries
        await self.until(lambda: self.load.refused >= enough, "submissions are refused")

    async def ready(self, name: str) -> bool:
        """Whether this process says that it is ready. One that does not answer is not."""
        child = self.arena.processes[name]
        try:
            async with httpx.AsyncClient(timeout=1.0) as client:
                return (await client.get(f"{child.said['http']}/readyz")).status_code == 200
        except httpx.HTTPError:
            return False

    async def unready(self, name: str) -> bool:
        return not await self.ready(name)


Fault = Callable[[Scene], Awaitable[None]]


async def under_load(dir: Path, fault: Fault, setup: Setup = Setup()) -> Verdict:  # noqa: B008  # it is frozen
    """Starts a fleet, lets `fault` at it while jobs come, then lets all of them end, and judges."""
    arena = Arena(dir, FleetPlan(_CLUSTERS, groups=(), nats_servers=setup.nats_servers), setup.settings)
    try:
        await arena.start()
        bus = await NatsBus.connect(arena.nats_url, "test")
        try:
            verdict = await _played(arena, bus, fault, setup)
        finally:
            await bus.close()
    finally:
        await arena.stop()
    print(f"\n{dir.name}: {verdict}")
    return verdict


async def _played(arena: Arena, bus: NatsBus, fault: Fault, setup: Setup) -> Verdict:
    nodes = allocatable(_CLUSTERS)
    rules, tree = setup.demand.settings(sum(one[GPU] for cluster in nodes.values() for one in cluster.values()))
    await provisioned(bus, setup.nats_servers)
    await configure(arena, bus, (*rules, tree))
    await asyncio.gather(*(arena.start_process(group) for group in setup.groups))
    await all_reported(bus, {cluster.name for cluster in _CLUSTERS})
    pace = (setup.a_second, setup.cancelled)
    load = HttpLoad(arena, *pace) if setup.over_http else Load(bus, *pace, setup.demand)
    scene = Scene(arena, bus, load)
    if isinstance(load, Load) and setup.at_once:
        load.wanted = lambda: len(load.sent) - len(scene.ended) < setup.at_once
    async with asyncio.TaskGroup() as group:
        follow = group.create_task(scene.follow())
        submitting = group.create_task(load.run())
        await fault(scene)
        await scene.flows(setup.after)
        load.stop()
        await submitting
        held = await _settled(scene)
        follow.cancel()
    reading = await _read(bus, lambda: Reading(nodes, read_quota_tree(tree)))
    verdict = reading.verdict(load.sent, arena.members, held)
    if setup.decided_again:
        decided = await _decided(arena, bus)
        verdict = verdict.decided_again(decided)
        print("", *summaries(decided), sep="\n  ")
    if verdict.wrong:  # for whoever looks into it: beside the data of NATS
        (arena.dir / "reports.jsonl").write_bytes(b"\n".join(reading.reports))
        (arena.dir / "wrong.txt").write_text("\n".join(map(str, verdict.wrong)))
    return verdict


async def _read(bus: NatsBus, anew: Callable[[], Reading]) -> Reading:
    """The whole record. Who reads it begins again when NATS loses his place, as it may when a server has just come
    back."""
    async with asyncio.timeout(_PATIENCE_S):
        while True:
            reading = anew()
            try:
                await reading.read(bus)
            except Unreachable as cause:
                print(f"the judge reads the record anew: {cause}")
            else:
                return reading


async def _decided(arena: Arena, bus: NatsBus) -> DecisionReport:
    """All that was decided, once more. NATS may lose the reader's place, as above."""
    async with asyncio.timeout(_PATIENCE_S):
        while True:
            try:
                return await decided_again(arena, bus)
            except Unreachable as cause:
                print(f"the judge decides again anew: {cause}")


async def _settled(scene: Scene) -> list[str]:
    """What is left when every job has ended, or when it is plain that some will not."""
    left: list[str] = []

    async def nothing() -> bool:
        if not scene.over() or scene.arena.members.running():
            return False
        left[:] = [*await held(scene.arena.valkey_url), *remains(scene.arena.members, scene)]
        return not left

    try:
        await scene.until(nothing, "all is over")
    except AssertionError:
        running = scene.arena.members.running()
        return [*left, *([f"{running} pods run on, of nobody"] if running else [])]
    return []


async def _true(answer: bool | Awaitable[bool]) -> bool:
    return answer if isinstance(answer, bool) else await answer
