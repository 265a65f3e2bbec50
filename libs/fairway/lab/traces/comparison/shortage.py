"""How many GPU-hours tenants had less than they were guaranteed while they asked for it.

At any moment a tenant is below its guarantee by what it uses less than the smaller of its min and its demand, which is
what its waiting and running jobs ask for. Three causes are told apart, because only the last one is a broken promise:
jobs are whole, and none that waits may fit into what is left of the min; a guarantee takes a while to be given back,
the reclaim time; and what is beyond that.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum

from msgspec import Struct

from fairway.lab.traces.policies.baselines import Runs
from fairway.lab.traces.policies.event_loop import JobRun
from fairway.lab.traces.trace import TraceJob


class Guarantees(Struct, frozen=True):
    """The GPUs that each tenant is guaranteed, and how long it may take to give them back, in trace time."""

    mins: Mapping[str, int]
    reclaim_seconds: float


class Shortage(Struct, frozen=True):
    """GPU-hours below min x demand. `whole_jobs`: no job that waits is inside what is left of the min; `reclaiming`: a
    job is, and for no longer than the reclaim time; `beyond`: for longer. `beyond_by_tenant` are those of the last."""

    whole_jobs: float
    reclaiming: float
    beyond: float
    beyond_by_tenant: dict[str, float]


class _Kind(IntEnum):
    """What happens at one moment happens in this order."""

    EVICTED = 0
    ENDED = 1
    SUBMITTED = 2
    STARTED = 3


def shortage(jobs: Sequence[TraceJob], runs: Runs, guarantees: Guarantees) -> Shortage:
    """Of the jobs that ran at all."""
    tenants = {
        tenant: _Tenant(jobs, least, guarantees.reclaim_seconds) for tenant, least in sorted(guarantees.mins.items())
    }
    events = sorted(
        event for at, (job, run) in enumerate(zip(jobs, runs, strict=True)) if run for event in _events(at, job, run)
    )
    for now, kind, at in events:
        if (tenant := tenants.get(jobs[at].tenant)) is not None:
            tenant.pass_time(now)
            tenant.happens(kind, at)
    hours = {name: [seconds / 3_600 for seconds in tenant.seconds] for name, tenant in tenants.items()}
    whole, reclaiming, beyond = (round(sum(one[which] for one in hours.values()), 3) for which in range(3))
    return Shortage(whole, reclaiming, beyond, {name: round(one[2], 3) for name, one in hours.items()})


def _events(at: int, job: TraceJob, run: JobRun) -> list[tuple[float, _Kind, int]]:
    found = [(job.at, _Kind.SUBMITTED, at), (run.started, _Kind.STARTED, at), (run.ended, _Kind.ENDED, at)]
    for since, until in run.evicted:
        found += [(since, _Kind.STARTED, at), (until, _Kind.EVICTED, at)]
    return found


class _Tenant:
    """One tenant over time. `active` are its jobs that wait or run, in the order in which they came."""

    def __init__(self, jobs: Sequence[TraceJob], least: int, reclaim_seconds: float) -> None:
        self._jobs = jobs
        self._least = least
        self._reclaim = reclaim_seconds
        self._now = 0.0
        self._active: list[int] = []
        self._demand = 0
        self._running: set[int] = set()
        self._inside = 0
        self._waiting_since: dict[int, float] = {}
        self.seconds = [0.0, 0.0, 0.0]

    def happens(self, kind: _Kind, at: int) -> None:
        match kind:
            case _Kind.SUBMITTED:
                self._active.append(at)
                self._demand += self._jobs[at].gpus
            case _Kind.STARTED:
                self._running.add(at)
            case _Kind.EVICTED:
                self._running.discard(at)
            case _Kind.ENDED:
                self._running.discard(at)
                self._active.remove(at)
                self._demand -= self._jobs[at].gpus
        self._choose()

    def _choose(self) -> None:
        """Those inside the min, as levels have them: in order, who fits into what is left of it."""
        left = self._least
        waiting = {}
        for at in self._active:
            if left <= 0:
                break
            if self._jobs[at].gpus <= left:
                left -= self._jobs[at].gpus
                if at not in self._running:
                    waiting[at] = self._waiting_since.get(at, self._now)
        self._inside = self._least - left
        self._waiting_since = waiting

    def pass_time(self, now: float) -> None:
        """Counts what was below the guarantee from the last moment to this one."""
        used = sum(self._jobs[at].gpus for at in self._running)
        below = min(self._least, self._demand) - used
        if below > 0 and now > self._now:
            owed = max(0, min(below, self._inside - used))
            beyond = self._beyond(owed, now)
            self.seconds[0] += (below - owed) * (now - self._now)
            self.seconds[1] += owed * (now - self._now) - beyond
            self.seconds[2] += beyond
        self._now = now

    def _beyond(self, owed: int, now: float) -> float:
        """GPU-seconds of what is owed to jobs that have waited for longer than the reclaim time."""
        late = 0
        total = 0.0
        last = self._now
        for since, at in sorted((since, at) for at, since in self._waiting_since.items()):
            begins = min(now, max(last, since + self._reclaim))
            total += min(owed, late) * (begins - last)
            late += self._jobs[at].gpus
            last = begins
        return total + min(owed, late) * (now - last)
