"""What recording costs a job: the processor time of all recorders, by what they do, and what `VIEWS` gets."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from fairway.lab.bench.measuring.facts import batch_facts
from fairway.lab.bench.measuring.journeys import Journeys
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline import load
from fairway.lab.bench.pipeline.fleet import STUBBED, PipelineScene, Tell, dispatching, groups, saturated, scene
from fairway.lab.bench.recording.metered import __name__ as METERED
from fairway.lab.bench.recording.metered import asked_at
from fairway.lab.bench.runs import RecordingRun
from fairway.lab.fleet.fleet import FleetPlan
from fairway.wire import subjects

GOALS = {"recorder_us_per_job": Goal(most=60)}


class _Known(Struct, frozen=True):
    """Microseconds by what recorders do, and what is in the stream by now."""

    spent: Mapping[str, float]
    messages: int
    bytes: int


async def measure(run: RecordingRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting", 0)
    size = load.GangSize(run.warmup + run.jobs, run.clusters, run.nodes, run.tenants, run.seed)
    plan = FleetPlan((), groups(run.processes), stub_clusters=True, stub_program=METERED)
    async with scene(dir, load.ground(size), plan) as on:
        journeys = Journeys(on.bus, load.submissions(size), lambda: tell("", 1))
        async with dispatching(on.bus, journeys):
            tell("warming up", run.warmup)
            await journeys.saturate(run.warmup, run.window)
            tell("saturated", run.jobs)
            before = await _known(on)
            took, spent = await saturated(journeys, run.jobs, run.window, on.pids())
            after = await _known(on)
        return BenchOutcome(
            figures=_figures(before, after, run.jobs)
            | {"jobs_per_second": round(run.jobs / took, 1), "cpu_us_per_job": round(spent["all"] * 1e6, 1)},
            goals=GOALS,
            cpu_seconds_per_job=spent,
            rss_peak_mib=on.peaks(),
            counts=journeys.counts(),
            stubbed=STUBBED,
            details={"batches": await batch_facts(on.addresses())},
        )


async def _known(on: PipelineScene) -> _Known:
    spent: Counter[str] = Counter()
    for child in on.fleet.processes.values():
        spent.update(msgspec.json.decode(await on.bus.ask(asked_at(child.pid)), type=dict[str, float]))
    state = (await on.bus.client.jetstream().stream_info(subjects.VIEWS)).state
    return _Known(spent, state.messages, state.bytes)


def _figures(before: _Known, after: _Known, jobs: int) -> dict[str, float]:
    spent = {name: (after.spent[name] - before.spent.get(name, 0.0)) / jobs for name in after.spent}
    encoding = spent.pop("piece", 0.0)
    parts = {"encoding": encoding, "publishing": spent.pop("store", 0.0) - encoding, **spent}
    return {
        "recorder_us_per_job": round(sum(parts.values()), 2),
        **{f"{name}_us_per_job": round(each, 2) for name, each in sorted(parts.items())},
        "views_bytes_per_job": round((after.bytes - before.bytes) / jobs, 1),
        "views_messages_per_job": round((after.messages - before.messages) / jobs, 4),
    }
