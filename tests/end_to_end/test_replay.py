"""A small trace through the real bus, cache, services and simulated clusters, judged from the record."""

import csv
from pathlib import Path

import pytest

from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.fleet.decided_again import summaries
from fairway.lab.fleet.fleet import EmbeddedFleet
from fairway.lab.processes.service import Child
from fairway.lab.traces.progress import Progress
from fairway.lab.traces.replay import ReplayPlan, replay
from fairway.lab.traces.trace import philly
from fairway.process.pipeline import HUB, STAGES

CLUSTERS = equal_clusters(3, nodes=2, gpus=8)
# Every fifth job asks for a whole cluster, so that some have to wait for room.
SIZES = (1, 2, 1, 8, 16)


def trace(folder: Path, rows: int) -> Path:
    """Jobs of three virtual clusters, one every ten seconds, that run for five to forty minutes."""
    file = folder / "trace.csv"
    with file.open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(("timestamp", "duration", "num_gpus", "gpu_time", "cluster"))
        for row in range(rows):
            time = f"2017-10-03 {row // 360:02}:{row // 6 % 60:02}:{row % 6 * 10:02}"
            gpus = SIZES[row % 5]
            seconds = 300 * (1 + row % 8)
            writer.writerow((time, float(seconds), gpus, gpus * seconds, f"vc{row % 3}"))
    (folder / "philly_vc.csv").write_text("vc,node num\nvc0,3\nvc1,2\nvc2,1\n")
    return file


def plan(folder: Path, **more: object) -> ReplayPlan:
    fields = {"name": "small", "dir": folder / "fleet", "clusters": CLUSTERS, "speedup": 3000.0, "patience_s": 60.0}
    return ReplayPlan(**{**fields, **more})


async def test_sixty_jobs_on_three_clusters_all_end_and_break_nothing(tmp_path: Path) -> None:
    found = philly(trace(tmp_path, 60), 60)
    seen: list[Progress] = []
    report = await replay(plan(tmp_path, shares=found.shares), found.jobs, seen.append)
    figures = report.figures
    assert report.findings.violations == ()
    assert (figures.jobs["accepted"], figures.jobs["succeeded"], figures.unfinished) == (60, 60, 0)
    assert seen[-1].done == 60
    # They ask for 7,360 GPU minutes within ten minutes, and 48 GPUs give 480 in that time: most wait for room.
    assert figures.wait_seconds["p95"] > figures.wait_seconds["p50"] > 0
    assert figures.queued_seconds["p95"] > 0
    assert 0 < figures.gpu_utilisation <= 1
    assert report.decided is not None
    assert report.decided.complete, summaries(report.decided)
    assert list(report.decided.stages) == [*STAGES, HUB]
    identical = [report.decided.stages[name].identical for name in STAGES]
    assert min(identical) >= 60, summaries(report.decided)


@pytest.mark.slow  # test_kill.py kills each in turn
async def test_what_runs_beside_may_kill_a_process_and_start_it_again(tmp_path: Path) -> None:
    found = philly(trace(tmp_path, 30), 30)
    killed: list[Child] = []

    async def beside(fleet: EmbeddedFleet) -> None:
        group = ("propagator",)
        killed.append(fleet.processes["propagator"])
        await killed[0].kill()
        await fleet.start_process(group)

    report = await replay(plan(tmp_path, shares=found.shares), found.jobs, while_running=beside)
    assert (report.findings.violations, report.figures.jobs["succeeded"]) == ((), 30)
    assert not killed[0].alive
    assert report.decided is not None
    assert report.decided.good, summaries(report.decided)
