"""A trace through the real services on a virtual clock: waits are the fleet's, as a stage's step takes no time of it.

The clock of the fleet runs `speedup` times slower than the trace: what services and agents do by the clock, such as
reports against silence, would else be most of the work of a trace of months.
"""

import asyncio
import logging
import time
from collections.abc import Sequence

import structlog
from msgspec import Struct

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker, Findings
from fairway.domain.text.decoding import decoder
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.simulation.virtual_time import run_virtual
from fairway.lab.traces.fleet import allocatable, configured, submission
from fairway.lab.traces.policies.event_loop import JobRun
from fairway.lab.traces.progress import OnProgress, Progress
from fairway.lab.traces.report import Course, Tally, lost_gpu_hours
from fairway.lab.traces.trace import GPU, TraceJob, policy, quota_tree
from fairway.lab.traces.virtual.fleet import VirtualFleet
from fairway.process.main import calm_collector
from fairway.runtime.ports import Delivery
from fairway.wire import fleet as said
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.preemption import evictions
from fairway.workloads.settings.quota_trees import read_quota_tree

# Seconds of a trace are whole milliseconds of the fleet many times over, and its reports a small part of the work.
SPEEDUP = 100.0
# When no job runs and nothing was said for so long, nothing will be (s of the fleet).
_PATIENCE_S = 3_600.0
_SHOWN_EVERY_S = 0.25
_decode = decoder(wire.Message)
_report = decoder(said.Report)
_evict = decoder(evictions.Evict)


class VirtualPlan(Struct, frozen=True):
    """`shares` become guaranteed parts of the quota tree; `order` is who is next in it (empty: the default)."""

    name: str
    clusters: tuple[ClusterConfig, ...]
    shares: dict[str, int] = {}
    speedup: float = SPEEDUP
    order: str = ""


class VirtualOutcome(Struct, frozen=True):
    """How each job ran, in the order in which they were given (None: it has not succeeded). `most_evictions` is how
    often one job was ended for others at most, `own_seconds` the longest that any job waited for anything else than
    room or quota, in trace time."""

    runs: list[JobRun | None]
    findings: Findings
    rescheduled: int
    most_evictions: int
    lost_gpu_hours: float
    own_seconds: float


def replay(plan: VirtualPlan, jobs: Sequence[TraceJob], on_progress: OnProgress) -> VirtualOutcome:
    """`jobs` in the order of their submission. The same gives the same."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        outcome: VirtualOutcome = run_virtual(_VirtualReplay(plan, jobs, on_progress).run())
    finally:
        structlog.configure(**before)
    return outcome


class _VirtualReplay:
    def __init__(self, plan: VirtualPlan, jobs: Sequence[TraceJob], on_progress: OnProgress) -> None:
        self._plan = plan
        self._jobs = jobs
        self._show = _Shown(on_progress, len(jobs))
        nodes = allocatable(plan.clusters)
        gpus = sum(amounts.get(GPU, 0) for one in nodes.values() for amounts in one.values())
        tenants = sorted({job.tenant for job in jobs})
        tree = quota_tree(tenants, gpus, plan.shares, plan.order)
        self._settings = [configured(one) for one in (*map(policy, tenants), tree)]
        self._checker = Checker(nodes, read_quota_tree(tree))
        self._tally = Tally()
        self._over = asyncio.Event()
        self._heard = 0

    async def run(self) -> VirtualOutcome:
        fleet = self._fleet = VirtualFleet(self._plan.clusters)
        fleet.bus.told = self._told
        await fleet.bus.publish(self._settings)
        async with asyncio.TaskGroup() as group:
            await fleet.start(group)
            # Whatever begins has begun, and every cluster has reported.
            await fleet.clock.sleep(1)
            calm_collector()
            start = fleet.clock.now()
            await self._submit(fleet, start)
            await self._ends()
            fleet.stop()
        return self._outcome(start)

    async def _submit(self, fleet: VirtualFleet, start: int) -> None:
        """Every job at its time."""
        for index, job in enumerate(self._jobs):
            due = start + round(job.at * 1000 / self._plan.speedup)
            if due > fleet.clock.now():
                await fleet.clock.sleep((due - fleet.clock.now()) / 1000)
            name = f"{self._plan.name}.{index}"
            self._tally.submit(name, job, due)
            await fleet.bus.publish([submission(name, job, due, self._plan.speedup)])

    def _told(self, stream: str, delivery: Delivery) -> None:
        """Everything that is stored, at once."""
        if stream == subjects.JOBS:
            message = _decode(delivery.data)
            self._fleet.hear(message)
            spoken = Spoken(delivery.sequence, delivery.id, delivery.subject, message)
            self._checker.hear(spoken)
            self._tally.hear(spoken)
            self._heard += 1
            self._show(self._tally)
            if self._tally.done == len(self._jobs):
                self._over.set()
        elif delivery.subject.startswith("fairway.cluster.report."):
            self._checker.see(_report(delivery.data))
        elif delivery.subject == subjects.relief(evictions.Evict.verb):
            self._checker.decided(_evict(delivery.data))

    async def _ends(self) -> None:
        """Returns when every job has its end, or none will come any more."""
        while not self._over.is_set():
            before = self._heard
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await self._over.wait()
            except TimeoutError:
                if self._heard == before and not self._tally.running:
                    return

    def _outcome(self, start: int) -> VirtualOutcome:
        in_trace = self._plan.speedup / 1000
        courses = list(self._tally.courses.values())
        over = [one for one in courses if one.end]
        own = [max(0, one.started(self._plan.speedup) - one.submitted - one.queued - one.lost) for one in over]
        return VirtualOutcome(
            runs=[self._run(one, start) for one in courses],
            findings=self._checker.findings(),
            rescheduled=sum(one.attempts - 1 for one in courses),
            most_evictions=max((len(one.evicted) for one in courses), default=0),
            lost_gpu_hours=lost_gpu_hours(courses, in_trace),
            own_seconds=round(max(own, default=0) * in_trace, 3),
        )

    def _run(self, course: Course, start: int) -> JobRun | None:
        if course.end != "succeeded":
            return None

        def at(moment: int) -> float:
            return round((moment - start) * self._plan.speedup / 1000, 3)

        evicted = tuple((at(since), at(until)) for since, until in course.evicted)
        return JobRun(at(course.started(self._plan.speedup)), at(course.ended), evicted)


class _Shown:
    """Tells now and then how far it is, by the clock on the wall."""

    def __init__(self, on_progress: OnProgress, total: int) -> None:
        self._on_progress = on_progress
        self._total = total
        self._began = self._next = time.monotonic()

    def __call__(self, tally: Tally) -> None:
        now = time.monotonic()
        if now >= self._next or tally.done == self._total:
            self._next = now + _SHOWN_EVERY_S
            wall = now - self._began
            count = len(tally.courses)
            self._on_progress(Progress(self._total, count, tally.accepted, tally.running, tally.done, wall))
