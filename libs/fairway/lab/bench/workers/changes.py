"""Instances of every stage are killed and stopped under load, and others come: what becomes of the jobs, and how long
the queue decides nothing."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain, cycle, islice
from pathlib import Path
from random import Random
from typing import Any

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
from fairway.lab.bench.workers.instances import EACH, GROUPS, QUEUE, Instances
from fairway.lab.bench.workers.member_objects import MemberObjects
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.fleet.fleet import running as fleet_running
from fairway.wire import subjects

_INSTANCES = 2
_WINDOW = 64
_AFTER_S = 1.5
# Between two looks whether the next owner of the queue has decided anything (s).
_LOOK_S = 0.01
_HANDLED = ("fairway_messages_handled_total", QUEUE)
# A stage, and whether one of its processes is killed; else it is told to end.
Going = tuple[str, bool]


async def measure(run: WorkersRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting two", 0)
    async with _scene(dir) as (fleet, bus):
        changes = ComingAndGoing(run, fleet, bus, tell)
        try:
            return await changes.measured()
        finally:
            await changes.instances.forget()


@asynccontextmanager
async def _scene(dir: Path) -> AsyncIterator[tuple[EmbeddedFleet, NatsBus]]:
    """Settings before services, so that the first job meets them."""
    async with fleet_running(dir, FleetPlan(small_jobs.clusters(), groups=(), hubless=True)) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "bench")
        try:
            await bus.provision()
            await bus.publish(small_jobs.configuration())
            await asyncio.gather(*(fleet.start_process(group) for group in (("agent",), *GROUPS)))
            yield fleet, bus
        finally:
            await bus.close()


def goings(seed: int, takeovers: int) -> list[Going]:
    """Of each stage one is killed and one is stopped, the queue's owner so often; in an order of the seed. Between two
    of the queue there is another one, so that who stands by was there before."""
    draw = Random(seed)
    others = [(stage, killed) for stage in EACH if stage != QUEUE for killed in (True, False)]
    draw.shuffle(others)
    owners = [(QUEUE, killed) for killed in (True, False) for _ in range(takeovers)]
    draw.shuffle(owners)
    between = [*others, *islice(cycle(others), max(0, len(owners) - len(others)))]
    return [*chain.from_iterable(zip(between, owners, strict=False)), *between[len(owners) :]]


class ComingAndGoing:
    def __init__(self, run: WorkersRun, fleet: EmbeddedFleet, bus: NatsBus, tell: Tell) -> None:
        self._run = run
        self._fleet = fleet
        self._bus = bus
        self._tell = tell
        self.instances = Instances(fleet)
        self._journeys = DoorJourneys(fleet, bus, small_jobs.submissions(run.seed), tell)
        self._members = MemberObjects()
        self._silent: dict[bool, list[float]] = {True: [], False: []}
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
            await journeys.keep_up(_WINDOW, lambda: changing.done() and len(journeys.sent) >= self._run.jobs)
            await changing
            # What would be said a second time is said by then.
            await asyncio.sleep(_AFTER_S)
        return await self._outcome()

    async def _outcome(self) -> BenchOutcome:
        told = await account(self._bus, self._journeys.sent, self._members, auditor())
        figures = percentiles("queue_killed_", self._silent[True], 50, 100)
        figures |= percentiles("queue_stopped_", self._silent[False], 50, 100)
        counts = told.counts() | {"changes": self._made}
        details = {
            "sent_again": self._journeys.sent_again,
            "attempts": told.attempts,
            "queue_silent_ms": {"killed": self._silent[True], "stopped": self._silent[False]},
        }
        return BenchOutcome(figures=figures, counts=counts, details=details, wrong=told.wrong)

    async def _change(self) -> None:
        draw = Random(self._run.seed)
        for stage, killed in goings(self._run.seed, self._run.takeovers):
            await asyncio.sleep(draw.uniform(0.2, 1.0))
            if stage == QUEUE:
                await self._take_owner(killed)
            else:
                await self.instances.take(draw.choice(self.instances.of(stage)), killed)
            await self.instances.add(stage)
            self._made += 2

    async def _take_owner(self, killed: bool) -> None:
        """Measures until another one has decided something."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        going = asyncio.create_task(self.instances.take(self.instances.owner(), killed))
        child = self._fleet.processes[await self.instances.taken_over()]
        while not (await metrics((str(child.said["metrics"]),))).get(_HANDLED):
            await asyncio.sleep(_LOOK_S)
        self._silent[killed].append(round((loop.time() - begun) * 1000, 1))
        await going


@asynccontextmanager
async def _task(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
