"""Finish-time fairness of tenants.

The measure is that of Themis (Mahajan et al., NSDI 2020): rho = T_sh / T_id, the time that an app takes from its
submission to its end in the shared cluster, over the time that it would take on a 1/N share of it that is its own. Here
an app is a tenant, its time is the sum over its jobs, and its own share is that of the static partition: what the trace
gives it of the nodes, or 1/N where the trace gives no shares. Below 1 the tenant is better off than by itself.
"""

from collections.abc import Sequence

from msgspec import Struct

from fairway.lab.traces.policies.baselines import Runs
from fairway.lab.traces.trace import TraceJob


class Fairness(Struct, frozen=True):
    """`rho` by tenant; `worst` and `median` are tenants, too: the one in the middle is the better of two."""

    worst: str
    median: str
    rho: dict[str, float]


def fairness(jobs: Sequence[TraceJob], shared: Runs, alone: Runs) -> Fairness:
    """Of the jobs that run both ways."""
    sums: dict[str, tuple[float, float]] = {}
    for job, here, there in zip(jobs, shared, alone, strict=True):
        if here is not None and there is not None:
            together, by_itself = sums.get(job.tenant, (0.0, 0.0))
            sums[job.tenant] = (together + here.ended - job.at, by_itself + there.ended - job.at)
    rho = {tenant: ours / own for tenant, (ours, own) in sorted(sums.items()) if own}
    ranked = sorted(rho, key=lambda tenant: (rho[tenant], tenant))
    if not ranked:
        return Fairness("", "", {})
    return Fairness(ranked[-1], ranked[(len(ranked) - 1) // 2], {name: round(one, 4) for name, one in rho.items()})
