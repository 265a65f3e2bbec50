"""A comparison as a picture: how long jobs wait, and how many GPUs are in use over time, a line for each policy."""

from collections.abc import Mapping, Sequence
from math import log10

from fairway.lab.traces.comparison.svg import Axis, Chart, Point, picture
from fairway.lab.traces.comparison.usage import usage
from fairway.lab.traces.policies.baselines import Runs
from fairway.lab.traces.trace import TraceJob

# The axis of waits: from a second, on which all shorter ones stand, to beyond the longest of any replay.
_LEAST_S = 1.0
_MOST_S = 100 * 86_400.0
_MARKS = ((1, "1 s"), (60, "1 min"), (3_600, "1 h"), (86_400, "1 day"), (864_000, "10 days"))
_STEPS = 200
_TENTHS = tuple((part / 10, f"{part * 10} %") for part in range(0, 11, 2))
_DAY_S = 86_400


def draw(jobs: Sequence[TraceJob], runs: Mapping[str, Runs], gpus: int) -> str:
    """As SVG."""
    until = max((job.at for job in jobs), default=0.0) or 1.0
    waits = {name: _cdf(jobs, own) for name, own in runs.items()}
    used = {name: _over_time(jobs, own, until, gpus) for name, own in runs.items()}
    days = int(until / _DAY_S)
    step = max(1, days // 6)
    ticks = tuple((day * _DAY_S / until, str(day)) for day in range(0, days + 1, step))
    marks = tuple((_at(seconds), text) for seconds, text in _MARKS)
    return picture(
        [
            Chart(
                "Jobs that waited no longer than this",
                Axis("wait (logarithmic)", marks),
                Axis("part of all jobs", _TENTHS),
                waits,
            ),
            Chart(
                "GPUs in use", Axis("days after the first submission", ticks), Axis("part of all GPUs", _TENTHS), used
            ),
        ]
    )


def _cdf(jobs: Sequence[TraceJob], runs: Runs) -> list[Point]:
    """Steps at the wait of every so-manieth job; one that never ran has no wait, and the line does not reach 1."""
    waits = sorted(run.started - job.at for job, run in zip(jobs, runs, strict=True) if run is not None)
    ranks = sorted({len(waits) * step // _STEPS for step in range(1, _STEPS + 1)} - {0})
    return [(_at(waits[rank - 1]), rank / len(jobs)) for rank in ranks]


def _at(seconds: float) -> float:
    """Its place on the logarithmic axis."""
    within = min(max(seconds, _LEAST_S), _MOST_S)
    return log10(within / _LEAST_S) / log10(_MOST_S / _LEAST_S)


def _over_time(jobs: Sequence[TraceJob], runs: Runs, until: float, gpus: int) -> list[Point]:
    used = usage(jobs, runs, until, _STEPS)
    return [((part + 0.5) / _STEPS, amount / gpus if gpus else 0.0) for part, amount in enumerate(used)]
