"""What came of a day, as figures. Pure."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from fairway.lab.bench.idle.run import IdleOutcome
from fairway.lab.bench.measuring.outcome import Goal
from fairway.lab.traces.report import percentiles

# Of the fleet. Completions are those of jobs that ended under both.
GOALS = {
    "lost_percent_fleet": Goal(most=2),
    "online_delayed_core_seconds_fleet": Goal(most=0),
    "completion_mean_fleet_to_home": Goal(most=1),
}


def figures(one: IdleOutcome) -> dict[str, float]:
    """`unused`: of all processors, without Spark and with it. `idle` is what Koordinator's formula leaves of them, by
    the use of the same minute. `used` of it is what Spark's pods ran with, less what was lost with them; `lost` is of
    all executor time."""
    totals = one.totals
    lost = one.lost
    used = max(0.0, totals.batch - lost.core_seconds)
    return {
        "unused_without_percent": _percent(totals.size - totals.online, totals.size),
        "unused_percent": _percent(totals.size - totals.online - totals.batch, totals.size),
        "idle_core_hours": _hours(totals.idle),
        "used_core_hours": _hours(used),
        "used_percent": _percent(used, totals.idle),
        "lost_percent": round(100 * lost.share, 2),
        "online_delayed_core_seconds": round(totals.delayed, 1),
    }


def counts(one: IdleOutcome) -> dict[str, int]:
    return {
        "succeeded": len(one.completions),
        "failed": one.failed,
        "taken_back": one.shrunk,
        "evicted": one.lost.evictions,
        "evicted_drivers": one.lost.drivers,
        "violations": len(one.violations),
    }


def details(one: IdleOutcome) -> dict[str, Any]:
    lost = one.lost
    parts = {"evicted": lost.evicted, "taken_back": lost.taken_back, "suppressed": lost.suppressed}
    return {
        "seconds": one.seconds,
        "online_unsuppressed_core_seconds": round(one.totals.unsuppressed, 1),
        "executor_hours": _hours(lost.ran),
        "executor_hours_lost": {name: _hours(seconds) for name, seconds in parts.items()},
    }


def compared(fleet: IdleOutcome, home: IdleOutcome) -> dict[str, float]:
    """Completions, from the submission, of jobs that succeeded under both."""
    both = sorted(fleet.completions.keys() & home.completions.keys())
    found: dict[str, float] = {}
    for name, one in (("fleet", fleet), ("home", home)):
        found |= _spread(name, [one.completions[index] for index in both])
    mean = found["completion_mean_minutes_home"]
    found["completion_mean_fleet_to_home"] = round(found["completion_mean_minutes_fleet"] / mean, 3) if mean else 0.0
    return found


def _spread(name: str, seconds: Sequence[float]) -> dict[str, float]:
    mean = fmean(seconds) if seconds else 0.0
    return {
        f"completion_mean_minutes_{name}": round(mean / 60, 1),
        f"completion_p95_minutes_{name}": round(percentiles(seconds)["p95"] / 60, 1),
    }


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def _hours(seconds: float) -> float:
    return round(seconds / 3600, 1)
