"""From what a cluster shows to what is true of the job: attempt by attempt, and the end only once."""

from typing import Any

from fairway.domain.decision import NOTHING, Decision, Heard, Step
from fairway.domain.job import Job, State
from fairway.domain.retry import attempt_over
from fairway.domain.tell import Teller
from fairway.watcher.missing import SERVICE, Emptied, Late, Listed, View, emptied, late, listed
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.kind import FAILED, RUNNING, SUCCEEDED
from fairway.workloads.registry import status

# An object can be seen before its dispatch is committed; looked at again this soon (ms).
_SOON_MS = 100
# An object that should not be there waits for another one's removal, looked at this often (ms).
_STRAY_MS = 1_000


class Observed(wire.JobMessage, frozen=True, kw_only=True, tag="observed"):
    """Local: an object of ours as a member cluster shows it; `gone`: it was deleted."""

    cluster: str
    manifest: dict[str, Any]
    gone: bool = False


def decide(view: View, heard: Heard, now: int) -> Decision:
    message: Any = heard.message
    match message:
        case Observed():
            return _observed(view, heard, now)
        case Listed():
            return listed(view, heard, now)
        case Emptied():
            return emptied(view, heard, now)
        case Late():
            return late(view, heard, now)
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
        why = Reason(Code.JOB_FAILED, phase.text or "it failed and gave no reason")
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
