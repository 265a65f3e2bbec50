"""A trace, replayed through the real bus, cache and services onto simulated clusters, and judged from the record."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock
from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker
from fairway.domain.text.decoding import decoder
from fairway.lab.fleet.decided_again import decided_again
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan, running
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.traces.fleet import allocatable, configured, record, submission
from fairway.lab.traces.progress import OnProgress, Progress
from fairway.lab.traces.report import ReplayReport, Tally, figures
from fairway.lab.traces.trace import GPU, TraceJob, policy, quota_tree
from fairway.operate.replay.report import DecisionReport
from fairway.runtime.ports import Outgoing, Unreachable
from fairway.wire import fleet as said
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.preemption import evictions
from fairway.workloads.settings.quota_trees import read_quota_tree

# Which services share a process: four processes of about equal work.
GROUPS = (
    ("agent", "watcher"),
    ("admission", "quota", "queue"),
    ("global-scheduler", "reserver"),
    ("propagator",),
)
# A whole trace takes about this long by default, submission to the last end.
WALL_S = 60.0
# After the last job should have ended and nothing was said for this long, the replay gives up waiting.
PATIENCE_S = 60.0
_decode = decoder(wire.Message)
_report = decoder(said.Report)
_evict = decoder(evictions.Evict)


class ReplayPlan(Struct, frozen=True, kw_only=True):
    """`speedup` 0: the whole trace in about a minute. `shares` become guaranteed parts of the quota tree; `order` is
    who is next in it. At the end all that was decided is decided again, unless told otherwise: that takes some
    milliseconds a job."""

    name: str
    dir: Path
    clusters: tuple[ClusterConfig, ...]
    speedup: float = 0
    shares: dict[str, int] = {}
    order: str = ""
    groups: tuple[tuple[str, ...], ...] = GROUPS
    patience_s: float = PATIENCE_S
    decide_again: bool = True


WhileRunning = Callable[[EmbeddedFleet], Coroutine[Any, Any, None]]


def speedup_for(jobs: Sequence[TraceJob]) -> float:
    """So that without any waiting the last job would end WALL_S after the first was submitted; at least 1."""
    return max(1.0, length(jobs) / WALL_S)


def length(jobs: Sequence[TraceJob]) -> float:
    """Seconds of trace time from the first submission to the last end, if no job ever waited."""
    return max((job.at + job.seconds for job in jobs), default=0.0)


async def replay(
    plan: ReplayPlan,
    jobs: Sequence[TraceJob],
    on_progress: OnProgress | None = None,
    while_running: WhileRunning | None = None,
) -> ReplayReport:
    """Starts a fleet in `plan.dir`, submits every job at its time, and returns when each has an end or nothing moves
    any more. `while_running` runs beside it and may kill and restart what it likes, as `fleet.start_process` does."""
    async with running(plan.dir, FleetPlan(plan.clusters, groups=())) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "replay")
        try:
            run = Replay(plan, jobs, bus)
            await run.prepare(fleet)
            async with asyncio.TaskGroup() as group:
                beside = group.create_task(while_running(fleet)) if while_running else None
                tasks = [
                    group.create_task(one)
                    for one in (run.submit(), run.follow(), run.watch_reports(), run.watch_evictions())
                ]
                await run.wait(on_progress)
                if beside is not None:
                    await beside
                for task in tasks:
                    task.cancel()
            decided = await decided_again(fleet, bus) if plan.decide_again else None
            return run.report(decided)
        finally:
            await bus.close()


class Replay:
    """One replay at work: a task that submits, a task that follows the record, and their counts."""

    def __init__(self, plan: ReplayPlan, jobs: Sequence[TraceJob], bus: NatsBus) -> None:
        self._plan = plan
        self._jobs = sorted(jobs, key=lambda job: job.at)
        self._bus = bus
        self._speedup = plan.speedup or speedup_for(jobs)
        nodes = allocatable(plan.clusters)
        self._gpus = sum(amounts.get(GPU, 0) for one in nodes.values() for amounts in one.values())
        tenants = sorted({job.tenant for job in jobs})
        self._policies = [policy(tenant) for tenant in tenants]
        self._tree = quota_tree(tenants, self._gpus, plan.shares, plan.order)
        self._checker = Checker(nodes, read_quota_tree(self._tree))
        self._tally = Tally()
        self._clock = SystemClock()
        self._start = self._last = 0
        self._sent = 0
        self._moved = asyncio.Event()

    async def prepare(self, fleet: EmbeddedFleet) -> None:
        """Settings before services: a service reads the settings that are there before it hears its first job."""
        await self._bus.provision()
        settings = [configured(one) for one in (*self._policies, self._tree)]
        await self._bus.publish(settings)
        await asyncio.gather(*(fleet.start_process(group) for group in self._plan.groups))
        waiting = {cluster.name for cluster in self._plan.clusters}
        async for delivery in self._bus.history(subjects.CLUSTERS, ("fairway.cluster.report.>",), live=True):
            if delivery.subject:
                waiting.discard(_report(delivery.data).cluster)
            if not waiting:
                break
        self._start = self._last = self._clock.now()

    async def submit(self) -> None:
        """Every job at its time; what is due together goes out together."""
        while self._sent < len(self._jobs):
            now = self._clock.now()
            due: list[Outgoing] = []
            while self._sent < len(self._jobs) and self._due(self._sent) <= now:
                due.append(self._submission(self._sent))
                self._sent += 1
            await self._insist(due)
            if self._sent < len(self._jobs):
                await asyncio.sleep(max(0.002, (self._due(self._sent) - self._clock.now()) / 1000))

    async def _insist(self, messages: Sequence[Outgoing]) -> None:
        """However long the bus is away: the ids make a repeated publish one."""
        stored = not messages
        while not stored:
            try:
                await self._bus.publish(messages)
                stored = True
            except Unreachable:
                await asyncio.sleep(0.2)

    def _due(self, index: int) -> int:
        return self._start + round(self._jobs[index].at * 1000 / self._speedup)

    def _submission(self, index: int) -> Outgoing:
        job = self._jobs[index]
        name = f"{self._plan.name}.{index}"
        self._tally.submit(name, job, self._due(index))
        return submission(name, job, self._due(index), self._speedup)

    async def follow(self) -> None:
        async for one in record(self._bus, subjects.JOBS):
            spoken = Spoken(one.sequence, one.id, one.subject, _decode(one.data))
            self._checker.hear(spoken)
            self._tally.hear(spoken)
            self._last = self._clock.now()
            if self._tally.done == len(self._jobs):
                self._moved.set()

    async def watch_reports(self) -> None:
        """Where the clusters' own schedulers put the pods; not always where they were planned."""
        async for one in record(self._bus, subjects.CLUSTERS, "fairway.cluster.report.>"):
            self._checker.see(_report(one.data))

    async def watch_evictions(self) -> None:
        async for one in record(self._bus, subjects.RELIEF, subjects.relief(evictions.Evict.verb)):
            self._checker.decided(_evict(one.data))

    async def wait(self, on_progress: OnProgress | None) -> None:
        """Until every job has an end, or the time in which one could have come is long over."""
        ideal = self._start + round(length(self._jobs) * 1000 / self._speedup)
        while not self._moved.is_set():
            if on_progress is not None:
                on_progress(self._progress())
            if self._clock.now() > max(ideal, self._last) + self._plan.patience_s * 1000:
                return
            try:
                async with asyncio.timeout(0.25):
                    await self._moved.wait()
            except TimeoutError:
                continue
        if on_progress is not None:
            on_progress(self._progress())

    def _progress(self) -> Progress:
        tally = self._tally
        wall = (self._clock.now() - self._start) / 1000
        return Progress(len(self._jobs), self._sent, tally.accepted, tally.running, tally.done, wall)

    def report(self, decided: DecisionReport | None = None) -> ReplayReport:
        findings = self._checker.findings()
        found = figures(self._plan.name, self._tally, findings, self._speedup, self._gpus)
        return ReplayReport(found, findings, decided)
