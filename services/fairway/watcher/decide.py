"""From what a cluster shows to what is true of the job: attempt by attempt, and the end only once."""

from typing import Any, Protocol

from fairway.domain.decision import NOTHING, Decision, Heard, Step
from fairway.domain.job import Job, State
from fairway.domain.quota import MAX_JOBS, request
from fairway.domain.resources import describe
from fairway.domain.retry import attempt_over
from fairway.domain.tell import Jobs, Teller
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.kind import FAILED, RUNNING, SUCCEEDED
from fairway.workloads.registry import status

SERVICE = "watcher"
# An object can be seen before its dispatch is committed; looked at again this soon (ms).
_SOON_MS = 100
# An object that should not be there waits for another one's removal, looked at this often (ms).
_STRAY_MS = 1_000
# Objects dispatched this shortly before a list may be missing from it (ms).
_LIST_MARGIN_MS = 5_000


class Observed(wire.JobMessage, frozen=True, kw_only=True, tag="observed"):
    """Local: an object of ours as a member cluster shows it; `gone`: it was deleted."""

    cluster: str
    manifest: dict[str, Any]
    gone: bool = False


class Listed(fleet.FleetMessage, frozen=True, kw_only=True, tag="listed"):
    """Local: these attempts (`<job>/<attempt>`) are all that a cluster has of a kind."""

    cluster: str
    kind: str
    keys: frozenset[str]


class Late(fleet.FleetMessage, frozen=True, kw_only=True, tag="late"):
    """Local: look for jobs that should have started by now."""


class View(Jobs, Protocol):
    """`overdue` are the jobs whose start deadline has passed; `held` the ids of jobs by cluster as the ledger knows."""

    overdue: list[str]
    held: dict[str, set[str]]


def decide(view: View, heard: Heard, now: int) -> Decision:
    message: Any = heard.message
    match message:
        case Observed():
            return _observed(view, heard, now)
        case Listed():
            return _listed(view, heard, now)
        case Late():
            return _late(view, heard, now)
    return NOTHING  # dispatched: the view has taken its deadline


def _observed(view: View, heard: Heard, now: int) -> Decision:
    seen: Observed = heard.message
    job = view.jobs.get(seen.job)
    if job is None or job.spec is None:
        return NOTHING
    if job.attempt != seen.attempt or job.cluster != seen.cluster or job.ended or job.state is State.QUEUED:
        return _stray(view, heard, job, now)
    if job.removing or job.cancelling:
        return NOTHING
    if job.state is State.RESERVED:
        return NOTHING if seen.gone else Decision(again_in=_SOON_MS)
    if job.state not in (State.DISPATCHED, State.RUNNING):
        return NOTHING
    step = _said(Teller(view, SERVICE, heard, now), job, seen)
    return Decision((step,)) if step else NOTHING


def _said(teller: Teller, job: Job, seen: Observed) -> Step | None:
    assert job.spec is not None, "a job with an attempt was admitted"
    if seen.gone:
        text = f"the object was deleted in {seen.cluster}, not by Fairway"
        return attempt_over(teller, wire.Lost, Reason(Code.VANISHED, text)).step()
    phase = status(seen.manifest, job.spec.workload, seen.manifest.get("status"))
    if phase.state == SUCCEEDED:
        return teller.say(wire.Succeeded, cluster=seen.cluster, text=phase.text).step()
    if phase.state == FAILED:
        why = Reason(Code.JOB_FAILED, f"failed in {seen.cluster}: {phase.text or 'no reason given'}")
        return attempt_over(teller, wire.Failed, why).step()
    if phase.state == RUNNING and job.state is State.DISPATCHED:
        return teller.say(wire.Running, cluster=seen.cluster, text=phase.text).step()
    return None


def _stray(view: View, heard: Heard, job: Job, now: int) -> Decision:
    """An object of an attempt that is over: one that nobody is removing yet is recalled."""
    seen: Observed = heard.message
    if seen.gone or not _over(seen, job) or job.recalled == seen.attempt:
        return NOTHING
    if job.removing:
        return Decision(again_in=_STRAY_MS)  # one at a time
    why = Reason(Code.VANISHED, f"attempt {seen.attempt} is over, but its object is in {seen.cluster}")
    teller = Teller(view, SERVICE, heard, now)
    return Decision((teller.say(wire.Recall, attempt=seen.attempt, cluster=seen.cluster, why=why).step(),))


def _over(seen: Observed, job: Job) -> bool:
    """Whether this attempt may no longer run. Of a job that ended by itself, what is finished stays to be looked at."""
    if seen.attempt < job.attempt or job.state is State.CANCELLED:
        return True
    if job.state is not State.FAILED or job.spec is None:
        return False
    return status(seen.manifest, job.spec.workload, seen.manifest.get("status")).state not in (FAILED, SUCCEEDED)


def _listed(view: View, heard: Heard, now: int) -> Decision:
    """After a gap: what should be there and is not was deleted while nobody looked."""
    listed: Listed = heard.message
    steps = []
    for name in sorted(view.held.get(listed.cluster, ())):
        job = view.jobs.get(name)
        if job is None or job.spec is None or job.key in listed.keys or not _started_in(job, listed):
            continue
        if _begun(job) > now - _LIST_MARGIN_MS:
            continue
        why = Reason(Code.VANISHED, f"the object is no longer in {listed.cluster}; it was not deleted by Fairway")
        steps.append(attempt_over(Teller(view, SERVICE, heard, now, name), wire.Lost, why).step())
    return Decision(tuple(steps))


def _started_in(job: Job, listed: Listed) -> bool:
    assert job.spec is not None, "a held job was admitted"
    kind = f"{job.spec.workload.kind}.{job.spec.workload.api_version}"
    started = job.state in (State.DISPATCHED, State.RUNNING)
    return started and job.cluster == listed.cluster and kind == listed.kind and not job.removing


def _begun(job: Job) -> int:
    """When the object was applied, or a little earlier."""
    return job.attempts[-1].started_at if job.state is State.RUNNING else job.since


def _late(view: View, heard: Heard, now: int) -> Decision:
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
