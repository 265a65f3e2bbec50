"""How many GPUs run jobs, over time."""

from collections.abc import Sequence

from fairway.lab.traces.policies.baselines import Runs
from fairway.lab.traces.trace import TraceJob


def usage(jobs: Sequence[TraceJob], runs: Runs, until: float, parts: int) -> list[float]:
    """GPUs in use on average in each of so many equal parts of the time from 0 `until` then."""
    width = until / parts
    total = [0.0] * parts
    for job, run in zip(jobs, runs, strict=True):
        if run is None or run.started >= until:
            continue
        last = min(int(run.ended / width), parts - 1)
        for part in range(int(run.started / width), last + 1):
            total[part] += job.gpus * (min(run.ended, (part + 1) * width) - max(run.started, part * width))
    return [one / width for one in total]
