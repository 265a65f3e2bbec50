"""What should be there and is not: an object that vanished while nobody looked, a gang that never started. Pure."""

from typing import Protocol

from fairway.domain.decision import Decision, Heard
from fairway.domain.job import Job, State
from fairway.domain.quota import MAX_JOBS, request
from fairway.domain.resources import describe
from fairway.domain.retry import attempt_over, next_attempt
from fairway.domain.tell import Jobs, Teller
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

SERVICE = "watcher"
# Objects dispatched this shortly before a list may be missing from it (ms).
_LIST_MARGIN_MS = 5_000


class Listed(fleet.FleetMessage, frozen=True, kw_only=True, tag="listed"):
    """Local: these attempts (`<job>/<attempt>`) are all that a cluster has of a kind."""

    cluster: str
    kind: str
    keys: frozenset[str]


class Late(fleet.FleetMessage, frozen=True, kw_only=True, tag="late"):
    """Local: look for jobs that should have started by now."""


class Emptied(fleet.FleetMessage, frozen=True, kw_only=True, tag="emptied"):
    """Local: the jobs of this cluster are to start anew elsewhere."""

    cluster: str


class View(Jobs, Protocol):
    """`overdue` are the jobs whose start deadline has passed; `held` the ids of jobs by cluster as the ledger knows."""

    overdue: list[str]
    held: dict[str, set[str]]


def listed(view: View, heard: Heard, now: int) -> Decision:
    """After a gap: what should be there and is not was deleted while nobody looked."""
    seen: Listed = heard.message
    steps = []
    for name in sorted(view.held.get(seen.cluster, ())):
        job = view.jobs.get(name)
        if job is None or job.spec is None or job.key in seen.keys or not _started_in(job, seen):
            continue
        if _begun(job) > now - _LIST_MARGIN_MS:
            continue
        why = Reason(Code.VANISHED, f"the object is no longer in {seen.cluster}; it was not deleted by Fairway")
        steps.append(attempt_over(Teller(view, SERVICE, heard, now, name), wire.Lost, why).step())
    return Decision(tuple(steps))


def emptied(view: View, heard: Heard, now: int) -> Decision:
    """What is there is recalled and goes back to its queue, whatever the number of its attempts: it did no wrong."""
    cluster = heard.message.cluster
    why = Reason(Code.CORDONED, f"{cluster} is to leave the fleet, and its jobs start anew elsewhere")
    steps = []
    for name in sorted(view.held.get(cluster, ())):
        job = view.jobs.get(name)
        if job is None or job.cluster != cluster or job.removing or job.cancelling:
            continue
        if job.state in (State.DISPATCHED, State.RUNNING):
            steps.append(next_attempt(Teller(view, SERVICE, heard, now, name), wire.Lost, why).step())
    return Decision(tuple(steps))


def _started_in(job: Job, seen: Listed) -> bool:
    assert job.spec is not None, "a held job was admitted"
    kind = f"{job.spec.workload.kind}.{job.spec.workload.api_version}"
    started = job.state in (State.DISPATCHED, State.RUNNING)
    return started and job.cluster == seen.cluster and kind == seen.kind and not job.removing


def _begun(job: Job) -> int:
    """When the object was applied, or a little earlier."""
    return job.attempts[-1].started_at if job.state is State.RUNNING else job.since


def late(view: View, heard: Heard, now: int) -> Decision:
    steps = []
    for name in view.overdue:
        job = view.jobs.get(name)
        if job is None or job.spec is None or job.state is not State.DISPATCHED or job.removing:
            continue
        waited = now - job.since
        if waited < job.spec.start_timeout:
            continue
        asks = {one: amount for one, amount in request(job).items() if one != MAX_JOBS}
        text = f"not running in {job.cluster} after {waited // 1000} s; its gang needs {describe(asks)}"
        why = Reason(Code.START_TIMEOUT, text, remedy="see the pods' events there; the policy sets the start timeout")
        steps.append(attempt_over(Teller(view, SERVICE, heard, now, name), wire.Lost, why).step())
    return Decision(tuple(steps))
