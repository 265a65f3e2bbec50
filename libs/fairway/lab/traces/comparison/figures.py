"""What a policy made of a trace, counted the same way for every policy, in trace time."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from msgspec import Struct

from fairway.lab.traces.comparison.fairness import Fairness, fairness
from fairway.lab.traces.comparison.usage import usage
from fairway.lab.traces.policies.baselines import STATIC, Runs
from fairway.lab.traces.report import percentiles
from fairway.lab.traces.trace import TraceJob


class PolicyFigures(Struct, frozen=True):
    """Times in seconds. `ran` jobs ran; `never` ones ask for more than the policy ever has for them. Waits and
    completions, both from the submission, are of the jobs that ran under every policy. GPU utilisation is the part of
    all GPUs that runs jobs: until the last submission (`while_arriving`), and until the last end."""

    ran: int
    never: int
    wait_seconds: dict[str, float]
    completion_seconds: dict[str, float]
    gpu_utilisation_while_arriving: float
    gpu_utilisation: float
    last_end_seconds: float
    finish_time_fairness: Fairness


class Comparison(Struct, frozen=True):
    """`compared` of the jobs ran under every policy."""

    jobs: int
    compared: int
    gpus: int
    arriving_seconds: float
    policies: dict[str, PolicyFigures]


def compare(jobs: Sequence[TraceJob], runs: Mapping[str, Runs], gpus: int) -> Comparison:
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
            completion_seconds=_spread(whole),
            gpu_utilisation_while_arriving=_share(jobs, own, arriving, gpus),
            gpu_utilisation=_share(jobs, own, last, gpus),
            last_end_seconds=round(last, 1),
            finish_time_fairness=fairness(jobs, own, runs[STATIC]),
        )
    return Comparison(len(jobs), len(compared), gpus, arriving, policies)


def _spread(values: Sequence[float]) -> dict[str, float]:
    ranked = percentiles(values)
    return {"mean": round(fmean(values), 1) if values else 0.0, "p50": ranked["p50"], "p95": ranked["p95"]}


def _share(jobs: Sequence[TraceJob], runs: Runs, until: float, gpus: int) -> float:
    return round(usage(jobs, runs, until, 1)[0] / gpus, 4) if until and gpus else 0.0
