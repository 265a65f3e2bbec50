"""The benchmark runs and reports. What it measures is never judged here: machines differ."""

import asyncio
import json
import sys

import pytest

FIGURES = (
    "jobs_per_second", "bare_jobs_per_second", "ratio_to_bare", "p50_ms", "p99_ms", "half_p50_ms", "half_p99_ms",
    "cpu_us_per_job", "bare_cpu_us_per_job",
)  # fmt: skip
SPREAD = ("p50_ms", "p95_ms", "p99_ms", "mean_ms")


async def bench(*options: str, name: str = "pipeline") -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "fairway.app.cli", "bench", name, *options,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_the_bench_reports_and_dispatches_every_job_exactly_once() -> None:
    """300 jobs, 20 before them to warm up and 75 after them at half the rate."""
    code, out, err = await bench(
        *("--jobs", "300", "--warmup", "20", "--clusters", "3", "--nodes", "10", "--tenants", "7"),
        *("--window", "100", "-o", "json"),
    )
    assert code == 0, err
    report = json.loads(out)
    assert report["name"] == "pipeline"
    assert report["counts"] == {"submitted": 395, "dispatched": 395, "not_once": 0}
    assert all(report["figures"][name] > 0 for name in FIGURES)
    assert set(report["figures"]) == set(FIGURES)
    assert set(report["missed"]) <= set(report["goals"]) <= set(FIGURES)
    assert report["met"] == (not report["missed"])
    assert {"nats", "valkey", "all"} <= set(report["cpu_seconds_per_job"])
    assert all(size > 0 for size in report["rss_peak_mib"].values())
    assert {"python", "nats-py", "msgspec"} <= set(report["versions"])
    assert report["machine"]["cores"] > 0
    assert report["details"]["message_bytes"]["submitted"] > 2_000, "manifests are of the size that people write"


@pytest.mark.parametrize("number", ["5", "0"])
async def test_a_number_of_processes_that_has_no_split_is_refused_with_those_that_have(number: str) -> None:
    code, _, err = await bench("--processes", number)
    assert code == 2
    assert "1, 2, 3, 4, 7" in err


async def test_under_the_load_of_kueues_test_every_job_succeeds_exactly_once() -> None:
    """Two cohorts of two queues, ten jobs each: seven small, two medium, one large of the whole nominal quota."""
    small = ("--cohorts", "2", "--queues", "2", "--jobs", "10", "--clusters", "2", "-o", "json")
    code, out, err = await bench(*small, name="kueue-baseline")
    assert code == 0, err
    report = json.loads(out)
    assert report["name"] == "kueue-baseline"
    counts = {"submitted": 40, "dispatched": 40, "succeeded": 40, "not_once": 0, "trouble": 0}
    assert report["counts"] == {f"{name}_on_2": count for name, count in counts.items()}
    figures = report["figures"]
    assert figures["wall_seconds_on_2"] > 1, "the large job alone runs for a second"
    work = 4 * (7 * 1 * 0.2 + 2 * 5 * 0.5 + 1 * 20 * 1.0)
    assert figures["useful_usage_on_2"] == pytest.approx(work / (80 * figures["wall_seconds_on_2"]), abs=0.002)
    assert all(figures[f"{kind}_{what}_on_2"] > 0 for kind in ("small", "medium", "large", "held") for what in SPREAD)
    assert set(report["goals"]) == {"wall_seconds_on_2", "useful_usage_on_2"}
    assert {"clusters_on_2", "nats_on_2", "all_on_2"} <= set(report["cpu_seconds_per_job"])


@pytest.mark.parametrize("wrong", [("--jobs", "15"), ("--clusters", "0"), ("--clusters", "1,few")])
async def test_a_load_that_has_no_form_is_refused(wrong: tuple[str, str]) -> None:
    code, _, err = await bench(*wrong, name="kueue-baseline")
    assert code == 2
    assert "a multiple of ten" in err
