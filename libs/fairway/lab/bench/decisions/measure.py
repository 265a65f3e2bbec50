"""The scheduler's `decide` alone, in one thread: on the view that the service has, kept current as its loop does."""

import os
import statistics
import time
from itertools import count
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from fairway.domain import decision, recorded_verdicts
from fairway.domain.decision import Heard, Step
from fairway.domain.job import Job
from fairway.global_scheduler.service import SchedulerMemory, service
from fairway.lab.bench.decisions.load import (
    LoadedClusters,
    barely,
    dequeued,
    gang,
    of_one_shape,
    of_several_shapes,
    placed,
)
from fairway.lab.bench.decisions.pure_loop import PureLoop
from fairway.lab.bench.measuring.facts import peak_mib
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline.fleet import Tell
from fairway.lab.bench.runs import DecisionsRun
from fairway.process.main import calm_collector
from fairway.runtime.ports import ReadRows, Row
from fairway.runtime.record.found_reader import whole
from fairway.wire import jobs as wire

# By the number of clusters, and of nodes in each.
_GOALS = {(100, 100): Goal(least=8_000), (1_000, 100): Goal(least=5_000)}
_STUBBED = "bus and store: the view is given rows as the store has them, of nodes as the reserver writes them"
_BARE = (
    "one numpy look at every node for each gang, that gives no reasons, no plan and no record (bare), and compiled "
    "loops over a fleet of their own, with verdicts, scores and nodes, and neither jobs nor a record (pure)"
)
# Decisions for each such look: enough of them for a steady mean.
_BARE_EACH = 16
# Gangs of several shapes take longer: so many fewer of them are decided on.
_SEVERAL_EACH = 4
_NOW = 1_000
_encode = msgspec.json.Encoder().encode


async def measure(run: DecisionsRun, dir: Path, tell: Tell) -> BenchOutcome:
    """Keeps nothing in `dir`."""
    outcome = BenchOutcome(figures={}, stubbed=_STUBBED, reference=_BARE)
    pure: PureLoop | None = None
    for clusters in run.sizes:
        tell(f"filling {clusters}", 0)
        bench = Decisions(run, clusters)
        pure = pure or PureLoop()
        tell(f"warming up {clusters}", run.warmup)
        bench.go(run.warmup, tell)
        bench.clear()
        tell(f"{clusters} clusters", run.decisions)
        bench.go(run.decisions, tell)
        part = BenchOutcome(
            figures=bench.figures(), counts=bench.counts(), rss_peak_mib=peak_mib({"bench": os.getpid()})
        )
        part.cpu_seconds_per_job["bench"] = bench.cpu_seconds
        part.figures["pure_us_per_decision"] = round(pure.us_per_decision(clusters, run.nodes, run.decisions), 2)
        part.figures["ratio_to_pure"] = round(part.figures["pure_us_per_decision"] / (bench.cpu_seconds * 1e6), 3)
        outcome.take(part, f"{clusters}")
        outcome.details[str(clusters)] = bench.details()
        bench.several = True
        tell(f"several shapes, {clusters}", run.decisions // _SEVERAL_EACH)
        bench.go(run.warmup // _SEVERAL_EACH, _quietly)
        bench.clear()
        bench.go(run.decisions // _SEVERAL_EACH, tell)
        several = BenchOutcome(figures={"several_cpu_us_per_decision": round(bench.cpu_seconds * 1e6, 1)})
        several.counts = {f"several_{name}": count for name, count in bench.counts().items()}
        outcome.take(several, f"{clusters}")
        if goal := _GOALS.get((clusters, run.nodes)):
            outcome.goals[f"decisions_per_second_{clusters}"] = goal
    return outcome


class _Measured(Struct):
    """Nanoseconds of each decision by the clock (`took`), of all of them by the processor, of each bare look, and of
    all that the view does beside (reading rows, applying steps); the bytes of each record, and records that lack a
    cluster."""

    took: list[int] = []
    bare: list[int] = []
    processor: int = 0
    beside: int = 0
    sizes: list[int] = []
    placed: int = 0
    incomplete: int = 0


class Decisions:
    """A fleet of so many clusters, and what was measured; of gangs of one shape, or of `several`."""

    def __init__(self, run: DecisionsRun, clusters: int) -> None:
        self._run = run
        self.several = False
        self._draw = Random(run.seed)
        self._fleet_nodes = LoadedClusters(clusters, run.nodes, self._draw)
        self._service = service()
        self._view = SchedulerMemory()
        self._numbers = count(1)
        self._version = count(1)
        infos = [(decision.CLUSTERS, name, Row(1, _encode(info))) for name, info in self._fleet_nodes.infos(_NOW)]
        self._view.take(ReadRows(changes=[*infos, *self._fleet_nodes.rows()], version=next(self._version)), (), _NOW)
        calm_collector()
        self.clear()

    def clear(self) -> None:
        """Forgets what was measured."""
        self._measured = _Measured()

    def go(self, decisions: int, tell: Tell) -> None:
        for done in range(0, decisions, self._run.batch):
            size = min(self._run.batch, decisions - done)
            self._batch([self._job() for _ in range(size)])
            self._look_barely(max(1, size // _BARE_EACH))
            tell("", size)

    def _job(self) -> Job:
        sets = of_several_shapes(self._draw) if self.several else of_one_shape(self._draw)
        return dequeued(f"job-{next(self._numbers)}", self._draw, _NOW, sets)

    def _batch(self, jobs: list[Job]) -> None:
        """What a loop does with its messages, and then what the reserver and the ends of other gangs change."""
        heard = [_heard(job) for job in jobs]
        rows = {(decision.JOBS, job.id): Row(job.rev, _encode(job)) for job in jobs}
        changes = self._fleet_nodes.rows()
        began = time.perf_counter_ns()
        self._view.take(ReadRows(rows=rows, changes=changes, version=next(self._version)), heard, _NOW)
        self._measured.beside += time.perf_counter_ns() - began
        steps = [self._decide(one) for one in heard]
        for job, step in zip(jobs, steps, strict=True):
            self._account(job, step)

    def _decide(self, heard: Heard[wire.Dequeued]) -> Step:
        processor = time.thread_time_ns()
        began = time.perf_counter_ns()
        decided = self._service.decide(self._view, heard, _NOW)
        ended = time.perf_counter_ns()
        self._measured.processor += time.thread_time_ns() - processor
        self._measured.took.append(ended - began)
        (step,) = decided.steps
        began = time.perf_counter_ns()
        self._view.apply(step)
        self._measured.beside += time.perf_counter_ns() - began
        return step

    def _account(self, job: Job, step: Step) -> None:
        """Checks the record; a gang that was placed begins, and another one ends."""
        said = step.events[0].message
        assert isinstance(said, wire.Placed | wire.Queue), "it is placed, or it goes back"
        self._measured.sizes.append(len(_encode(said)) + sum(len(bytes(one.packed)) for one in step.apart))
        told = {one.cluster for one in recorded_verdicts.verdicts(whole(said, step.apart))}
        self._measured.incomplete += told != self._fleet_nodes.clusters.keys()
        if isinstance(said, wire.Placed):
            self._measured.placed += 1
            self._fleet_nodes.begin(placed(job, said.cluster, said.slots))
            self._fleet_nodes.end(self._draw.randrange(len(self._fleet_nodes.gangs)))

    def _look_barely(self, looks: int) -> None:
        for _ in range(looks):
            pods, asks = gang(self._draw)
            began = time.perf_counter_ns()
            barely(self._fleet_nodes, pods, asks)
            self._measured.bare.append(time.perf_counter_ns() - began)

    @property
    def cpu_seconds(self) -> float:
        """Of one decision."""
        return round(self._measured.processor / len(self._measured.took) / 1e9, 7)

    def figures(self) -> dict[str, float]:
        decisions = len(self._measured.took)
        rate = 1e9 * decisions / sum(self._measured.took)
        bare = 1e9 * len(self._measured.bare) / sum(self._measured.bare)
        parts = statistics.quantiles(self._measured.took, n=100)
        return {
            "decisions_per_second": round(rate, 1),
            "bare_per_second": round(bare, 1),
            "ratio_to_bare": round(rate / bare, 3),
            "p50_us": round(parts[49] / 1e3, 1),
            "p99_us": round(parts[98] / 1e3, 1),
            "cpu_us_per_decision": round(self.cpu_seconds * 1e6, 1),
            "view_us_per_decision": round(self._measured.beside / decisions / 1e3, 1),
        }

    def counts(self) -> dict[str, int]:
        """Of records that lack a cluster, and of amounts of nodes that were promised twice."""
        return {
            "decided": len(self._measured.took),
            "placed": self._measured.placed,
            "incomplete": self._measured.incomplete,
            "overfull": int((self._fleet_nodes.free < 0).sum()),
        }

    def details(self) -> dict[str, float]:
        return {
            "message_bytes": round(statistics.fmean(self._measured.sizes)),
            "gpus_used": round(self._fleet_nodes.gpus_used, 3),
        }


def _quietly(label: str, done: int) -> None:
    """Tells nobody."""


def _heard(job: Job) -> Heard[wire.Dequeued]:
    """That its turn has come."""
    return Heard(f"m-{job.id}", wire.Dequeued(job=job.id, tenant=job.tenant, attempt=job.attempt, rev=job.rev, at=_NOW))
