"""The benchmark runs and reports. What it measures is never judged here: machines differ."""

import asyncio
import json
import sys

import pytest

FIGURES = (
    "jobs_per_second", "bare_jobs_per_second", "ratio_to_bare", "p50_ms", "p99_ms", "half_p50_ms", "half_p99_ms",
    "cpu_us_per_job", "bare_cpu_us_per_job",
)  # fmt: skip


async def bench(*options: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "fairway.app.cli", "bench", "pipeline", *options,
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
