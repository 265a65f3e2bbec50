"""`relieve` alone, in one thread, on a fleet that is kept current; and claims in a whole fleet (claims.py)."""

import statistics
import time
from pathlib import Path
from random import Random

from fairway.lab.bench.evict import claims
from fairway.lab.bench.evict.load import NOW, ClaimCase, LentFleet
from fairway.lab.bench.evict.optimum import compared
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline.fleet import Tell
from fairway.lab.bench.runs import EvictRun
from fairway.placement.fleet import Fleet
from fairway.placement.loops import machine_code
from fairway.placement.relief.outcome import Relief
from fairway.placement.relief.relieve import relieve
from fairway.placement.verdicts.verdict import Context
from fairway.process.main import calm_collector
from fairway.wire.policy import Placement

# Pods, and GPUs of each: 64 GPUs, 128, and what little gangs ask for.
_GANGS = ((64, 1), (16, 8), (8, 8), (4, 4), (1, 8))
_WARM_UP = 3
# From a claim to the last recall, with so few victims and with more.
_FEW = 64
_MOST_MS_FEW = 250
_MOST_MS = 2_000
# Until a min is back that many jobs ask for one by one (s).
_MOST_S_MANY = 60
_STUBBED = "of p50 and p99: the message, the bus and the store; from claim to recall: cluster calls and agents"
_REFERENCE = "the fewest jobs of the lowest level and priority, found by looking at every set (jobs_to_optimum)"


async def measure(run: EvictRun, dir: Path, tell: Tell) -> BenchOutcome:
    outcome = BenchOutcome(figures={}, stubbed=_STUBBED, reference=_REFERENCE)
    for busy in run.busy:
        tell(f"candidates in {busy} clusters", run.seeds)
        took: list[int] = []
        processor: list[int] = []
        answers: list[Relief] = []
        for seed in range(run.seeds):
            _ask(run, min(busy, run.clusters), seed, (took, processor, answers))
            tell("", 1)
        outcome.take(BenchOutcome(figures=_figures(took, processor, answers)), f"{busy}")
        outcome.goals |= {f"p50_ms_{busy}": Goal(most=5), f"p99_ms_{busy}": Goal(most=10)}
    tell("small cases", run.small)
    ratios = [one.jobs / one.fewest for one in map(compared, range(run.small)) if one is not None and one.fewest]
    tell("", run.small)
    outcome.figures["jobs_to_optimum"] = round(statistics.fmean(ratios), 4)
    outcome.goals["jobs_to_optimum"] = Goal(most=1.2)
    outcome.counts = {"small_cases": len(ratios)}
    for victims in run.victims:
        outcome.take(await claims.measure(victims, run.claims, dir / f"victims-{victims}", tell), f"{victims}_victims")
        most = _MOST_MS_FEW if victims <= _FEW else _MOST_MS
        outcome.goals[f"claim_to_recall_p99_ms_{victims}_victims"] = Goal(most=most)
    if run.owners:
        outcome.take(await claims.measure_many(run.owners, dir / f"owners-{run.owners}", tell), f"{run.owners}_claims")
        outcome.goals[f"min_back_seconds_{run.owners}_claims"] = Goal(most=_MOST_S_MANY)
    return outcome


def _ask(run: EvictRun, busy: int, seed: int, into: tuple[list[int], list[int], list[Relief]]) -> None:
    lent = LentFleet(run.clusters, run.nodes, Random(seed))
    lent.fill(run.candidates, busy)
    fleet = lent.fleet()
    machine_code.load()
    calm_collector()
    took, processor, answers = into
    for pods, gpus in _GANGS:
        claim = lent.claim(pods, gpus)
        for at in range(_WARM_UP + run.rounds):
            spent = _one(fleet, claim, answers)
            if at >= _WARM_UP:
                took.append(spent[0])
                processor.append(spent[1])


def _one(fleet: Fleet, claim: ClaimCase, answers: list[Relief]) -> tuple[int, int]:
    """Nanoseconds by the clock and of the processor."""
    processor = time.thread_time_ns()
    began = time.perf_counter_ns()
    found = relieve(fleet, claim.workload, Placement(), Context(now=NOW), claim.asked)
    took = time.perf_counter_ns() - began
    if isinstance(found, Relief):
        answers.append(found)
    return took, time.thread_time_ns() - processor


def _figures(took: list[int], processor: list[int], answers: list[Relief]) -> dict[str, float]:
    parts = statistics.quantiles(took, n=100)
    return {
        "p50_ms": round(parts[49] / 1e6, 2),
        "p99_ms": round(parts[98] / 1e6, 2),
        "cpu_ms": round(statistics.median(processor) / 1e6, 2),
        "victims": round(statistics.fmean([len(one.victims) for one in answers] or [0]), 2),
        "answers": len(answers),
    }
