"""Scrapes of one process that tells everything of a large fleet: milliseconds in which its loops stand still, and
series."""

import statistics
import time
from pathlib import Path

from msgspec import Struct

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
    first = _scrape(loaded).ms
    took: list[_Scrape] = []
    for _ in range(run.scrapes):
        loaded.move(run.clusters // 10)
        took.append(_scrape(loaded))
        tell("", 1)
    page = took[-1].page
    figures = {
        "scrape_p50_ms": round(statistics.median(one.ms for one in took), 1),
        "scrape_max_ms": round(max(one.ms for one in took), 1),
        "scrape_cpu_ms": round(statistics.median(one.cpu_ms for one in took), 1),
        "first_scrape_ms": round(first, 1),
        "series": float(series(page)),
        "page_mib": round(len(page) / 2**20, 2),
    }
    goals = {"scrape_p50_ms": Goal(most=500), "series": Goal(most=60_000)}
    full = (run.clusters, run.queues) == (1_000, 200)
    return BenchOutcome(figures=figures, goals=goals if full else {}, stubbed=_STUBBED, reference=_REFERENCE)


class _Scrape(Struct):
    """By the clock, and by the processor, which does not count what a busy machine does meanwhile."""

    ms: float
    cpu_ms: float
    page: bytes


def _scrape(loaded: LargeFleet) -> _Scrape:
    began = time.perf_counter_ns()
    worked = time.thread_time_ns()
    page = loaded.page()
    return _Scrape((time.perf_counter_ns() - began) / 1e6, (time.thread_time_ns() - worked) / 1e6, page)
