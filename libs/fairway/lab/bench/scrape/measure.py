"""Scrapes of one process that tells everything of a large fleet: milliseconds in which its loops stand still, and
series."""

import statistics
import time
from pathlib import Path

from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline.fleet import Tell
from fairway.lab.bench.runs import ScrapeRun
from fairway.lab.bench.scrape.load import LargeFleet, series
from fairway.process.main import calm_collector

_STUBBED = "bus, store and HTTP: the memories of queue and reserver are filled as their rows would, the rest is counted"
_REFERENCE = "none"


async def measure(run: ScrapeRun, dir: Path, tell: Tell) -> BenchOutcome:
    """Keeps nothing in `dir`."""
    tell("filling", 0)
    loaded = LargeFleet(run)
    calm_collector()
    tell("scraping", run.scrapes)
    first = _scrape(loaded)[0]
    took: list[float] = []
    page = b""
    for _ in range(run.scrapes):
        loaded.move(run.clusters // 10)
        ms, page = _scrape(loaded)
        took.append(ms)
        tell("", 1)
    figures = {
        "scrape_p50_ms": round(statistics.median(took), 1),
        "scrape_max_ms": round(max(took), 1),
        "first_scrape_ms": round(first, 1),
        "series": float(series(page)),
        "page_mib": round(len(page) / 2**20, 2),
    }
    goals = {"scrape_p50_ms": Goal(most=500), "series": Goal(most=60_000)}
    full = (run.clusters, run.queues) == (1_000, 200)
    return BenchOutcome(figures=figures, goals=goals if full else {}, stubbed=_STUBBED, reference=_REFERENCE)


def _scrape(loaded: LargeFleet) -> tuple[float, bytes]:
    began = time.perf_counter_ns()
    page = loaded.page()
    return (time.perf_counter_ns() - began) / 1e6, page
