"""Instances of every stage are killed and stopped under load, and others come: what becomes of the jobs, and how long
queue and hub, of which one works, decide nothing."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain, cycle, islice
from pathlib import Path
from random import Random
from typing import Any

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import metrics
from fairway.lab.bench.measuring.journeys import percentiles
from fairway.lab.bench.measuring.outcome import BenchOutcome
from fairway.lab.bench.pipeline.agents import known
from fairway.lab.bench.pipeline.fleet import Tell, job_of
from fairway.lab.bench.runs import WorkersRun
from fairway.lab.bench.workers import small_jobs
from fairway.lab.bench.workers.account import account, auditor
from fairway.lab.bench.workers.doors import DoorJourneys
from fairway.lab.bench.workers.hub_objects import HubObjects
from fairway.lab.bench.workers.instances import SINGLE, WITH_HUB, Instances
from fairway.lab.bench.workers.member_objects import MemberObjects
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.fleet.fleet import running as fleet_running
from fairway.wire import subjects

_INSTANCES = 2
# Of those under way some come by the hub, which does not wait for the others.
_WINDOW = 160
_AFTER_S = 1.5
# Between two looks whether the next owner has decided anything (s).
_LOOK_S = 0.01
_HANDLED = "fairway_messages_handled_total"
# A stage, and whether one of its processes is killed; else it is told to end.
Going = tuple[str, bool]


async def measure(run: WorkersRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting two", 0)
    async with _scene(dir, run.seed) as (fleet, bus, hub):
        changes = ComingAndGoing(run, fleet, bus, hub, tell)
        try:
            return await changes.measured()
        finally:
            await changes.instances.forget()


@asynccontextmanager
async def _scene(dir: Path, seed: int) -> AsyncIterator[tuple[EmbeddedFleet, NatsBus, HubObjects]]:
    """Settings before services, so that the first job meets them."""
    async with fleet_running(dir, FleetPlan(small_jobs.clusters(), groups=())) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "bench")
        hub = await KubernetesCluster.from_kubeconfig("hub", fleet.hub_kubeconfig)
        try:
            await bus.provision()
            await bus.publish(small_jobs.configuration())
            objects = HubObjects(hub, small_jobs.hub_objects(seed))
            await objects.set_up(small_jobs.settings())
            await asyncio.gather(*(fleet.start_process((stage,)) for stage in ("agent", *WITH_HUB)))
            yield fleet, bus, objects
        finally:
            await hub.close()
            await bus.close()


def goings(seed: int, takeovers: int) -> list[Going]:
    """Of each stage one is killed and one is stopped, the owners of queue and hub so often; in an order of the seed.
    Between two owners there is another one, so that who stands by was there before."""
    draw = Random(seed)
    others = [(stage, killed) for stage in WITH_HUB if stage not in SINGLE for killed in (True, False)]
    draw.shuffle(others)
    owners = [(stage, killed) for stage in SINGLE for killed in (True, False) for _ in range(takeovers)]
    draw.shuffle(owners)
    between = [*others, *islice(cycle(others), max(0, len(owners) - len(others)))]
    return [*chain.from_iterable(zip(between, owners, strict=False)), *between[len(owners) :]]


class ComingAndGoing:
    def __init__(self, run: WorkersRun, fleet: EmbeddedFleet, bus: NatsBus, hub: HubObjects, tell: Tell) -> None:
        self._run = run
        self._fleet = fleet
        self._bus = bus
        self._hub = hub
        self._tell = tell
        self.instances = Instances(fleet, WITH_HUB)
        self._journeys = DoorJourneys(fleet, bus, small_jobs.submissions(run.seed), tell)
        self._members = MemberObjects()
        self._silent: dict[Going, list[float]] = {(stage, killed): [] for stage in SINGLE for killed in (True, False)}
        self._made = 0

    async def measured(self) -> BenchOutcome:
        await self.instances.bring_to(_INSTANCES)
        names = [one.name for one in small_jobs.clusters()]
        await known(self._bus, len(names))
        journeys = self._journeys
        async with AsyncExitStack() as stack:
            for name in names:
                watching = self._members.follow(name, self._fleet.kubeconfigs / f"{name}.kubeconfig")
                await stack.enter_async_context(beside(watching))
            ends = journeys.listen(subjects.JOBS, ("fairway.job.succeeded.>",), job_of)
            await stack.enter_async_context(beside(ends))
            self._tell("coming and going", 0)
            changing = await stack.enter_async_context(_task(self._change()))
            applying = await stack.enter_async_context(_task(self._hub.apply(journeys.begin, changing.done)))
            await journeys.keep_up(_WINDOW, lambda: changing.done() and len(journeys.sent) >= self._run.jobs)
            await changing
            await applying
            await journeys.drain()
            untold = await self._hub.untold()
            # What would be said a second time is said by then.
            await asyncio.sleep(_AFTER_S)
        return await self._outcome(untold)

    async def _outcome(self, untold: list[str]) -> BenchOutcome:
        told = await account(self._bus, self._journeys.sent, self._members, auditor())
        how = {True: "killed", False: "stopped"}
        figures: dict[str, float] = {}
        for (stage, killed), silent in self._silent.items():
            figures |= percentiles(f"{stage}_{how[killed]}_", silent, 50, 100)
        counts = told.counts() | {"changes": self._made, "on_hub": len(self._hub.names), "untold_on_hub": len(untold)}
        details = {
            "sent_again": self._journeys.sent_again,
            "attempts": told.attempts,
            **{
                f"{stage}_silent_ms": {how[killed]: self._silent[stage, killed] for killed in (True, False)}
                for stage in SINGLE
            },
        }
        late = (
            f"{len(untold)} objects of the hub do not show their end, such as {', '.join(untold[:3])}" if untold else ""
        )
        wrong = "; ".join(filter(None, (told.wrong, late)))
        return BenchOutcome(figures=figures, counts=counts, details=details, wrong=wrong)

    async def _change(self) -> None:
        draw = Random(self._run.seed)
        for stage, killed in goings(self._run.seed, self._run.takeovers):
            await asyncio.sleep(draw.uniform(0.2, 1.0))
            if stage in SINGLE:
                await self._take_owner(stage, killed)
            else:
                await self.instances.take(draw.choice(self.instances.of(stage)), killed)
            await self.instances.add(stage)
            self._made += 2

    async def _take_owner(self, stage: str, killed: bool) -> None:
        """Measures until another one has decided something."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        going = asyncio.create_task(self.instances.take(self.instances.owner(stage), killed))
        child = self._fleet.processes[await self.instances.taken_over(stage)]
        while not (await metrics((str(child.said["metrics"]),))).get((_HANDLED, stage)):
            await asyncio.sleep(_LOOK_S)
        self._silent[stage, killed].append(round((loop.time() - begun) * 1000, 1))
        await going


@asynccontextmanager
async def _task(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
