"""What a policy made of a trace, counted the same way for every policy, in trace time."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from msgspec import Struct

from fairway.lab.traces.comparison.fairness import Fairness, fairness
from fairway.lab.traces.comparison.shortage import Guarantees, Shortage, shortage
from fairway.lab.traces.comparison.usage import usage
from fairway.lab.traces.policies.baselines import STATIC, Runs
from fairway.lab.traces.report import percentiles
from fairway.lab.traces.trace import TraceJob

# A part of a node, a whole one, several: how large a job is decides how long it waits.
_SIZES = {"0-1": 1.0, "2-4": 4.0, "5-8": 8.0, "9 and more": float("inf")}


class PolicyFigures(Struct, frozen=True):
    """Times in seconds. `ran` jobs ran; `never` ones ask for more than the policy ever has for them. Waits and
    completions, both from the submission, are of the jobs that ran under every policy. GPU utilisation is the part of
    all GPUs that runs jobs: until the last submission (`while_arriving`), and until the last end. `below_min` are the
    GPU-hours that tenants had less than they were guaranteed."""

    ran: int
    never: int
    wait_seconds: dict[str, float]
    mean_wait_seconds_by_gpus: dict[str, float]
    completion_seconds: dict[str, float]
    gpu_utilisation_while_arriving: float
    gpu_utilisation: float
    last_end_seconds: float
    finish_time_fairness: Fairness
    below_min: Shortage


class Comparison(Struct, frozen=True):
    """`compared` of the jobs ran under every policy."""

    jobs: int
    compared: int
    gpus: int
    arriving_seconds: float
    policies: dict[str, PolicyFigures]


def compare(jobs: Sequence[TraceJob], runs: Mapping[str, Runs], gpus: int, guarantees: Guarantees) -> Comparison:
    """`runs` by policy. That of the static partition is what fairness is measured against."""
    compared = [index for index in range(len(jobs)) if all(own[index] is not None for own in runs.values())]
    arriving = max((job.at for job in jobs), default=0.0)
    policies = {}
    for name, own in runs.items():
        waits = [run.started - jobs[index].at for index in compared if (run := own[index]) is not None]
        whole = [run.ended - jobs[index].at for index in compared if (run := own[index]) is not None]
        last = max((run.ended for run in own if run is not None), default=0.0)
        policies[name] = PolicyFigures(
            ran=sum(run is not None for run in own),
            never=sum(run is None for run in own),
            wait_seconds=_spread(waits),
            mean_wait_seconds_by_gpus=_by_gpus([jobs[index].gpus for index in compared], waits),
            completion_seconds=_spread(whole),
            gpu_utilisation_while_arriving=_share(jobs, own, arriving, gpus),
            gpu_utilisation=_share(jobs, own, last, gpus),
            last_end_seconds=round(last, 1),
            finish_time_fairness=fairness(jobs, own, runs[STATIC]),
            below_min=shortage(jobs, own, guarantees),
        )
    return Comparison(len(jobs), len(compared), gpus, arriving, policies)


def _spread(values: Sequence[float]) -> dict[str, float]:
    ranked = percentiles(values)
    return {"mean": round(fmean(values), 1) if values else 0.0, "p50": ranked["p50"], "p95": ranked["p95"]}


def _by_gpus(gpus: Sequence[int], waits: Sequence[float]) -> dict[str, float]:
    """For jobs of about so many GPUs in all, where there are any."""
    found: dict[str, list[float]] = {name: [] for name in _SIZES}
    for asked, wait in zip(gpus, waits, strict=True):
        found[next(name for name, most in _SIZES.items() if asked <= most)].append(wait)
    return {name: round(fmean(own), 1) for name, own in found.items() if own}


def _share(jobs: Sequence[TraceJob], runs: Runs, until: float, gpus: int) -> float:
    return round(usage(jobs, runs, until, 1)[0] / gpus, 4) if until and gpus else 0.0
