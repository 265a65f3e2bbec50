"""Apply it there, or delete it there: first the call, then what its outcome means."""

from typing import Any

from msgspec import Struct

from fairway.domain.decision import NOTHING, Call, Decision, Heard, Outcome
from fairway.domain.job import Job, State
from fairway.domain.retry import attempt_over, next_attempt
from fairway.domain.tell import Jobs, Teller, current
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

SERVICE = "propagator"
APPLY, DELETE = "apply", "delete"
# A cluster that does not answer, or whose pods take their time, is asked again after this long (ms).
_AGAIN_MS = 1_000
# No code: nobody knows whether it was applied. An object of ours that is on its way out makes room in a moment.
_PASSING = ("", "StaleObject")


class Copy(Struct, frozen=True):
    """What the call needs of the job: its kind `Kind.group/version`, where it is, and where its manifest lies."""

    kind: str
    namespace: str
    name: str
    manifest: wire.ManifestRef
    hub_uid: str = ""


def decide(view: Jobs, heard: Heard, now: int) -> Decision:
    message: Any = heard.message
    if isinstance(message, wire.Recall):
        return _recall(view, heard, now)
    return _dispatch(view, heard, now)


def _dispatch(view: Jobs, heard: Heard, now: int) -> Decision:
    job = current(view, heard, State.RESERVED)
    if job is None or job.cancelling or job.recalled == job.attempt:
        return _undo(view, heard)
    if job.removing and not heard.outcomes:
        return Decision(again_in=_AGAIN_MS)  # an older attempt turned up somewhere: first it has to go
    if not heard.outcomes and job.id in view.stored:
        # The working set was lost after the room was held and before that was recorded: nobody holds it now.
        why = Reason(Code.RESERVATION_EXPIRED, f"its reservation in {job.cluster} was lost with the working set")
        return Decision((next_attempt(Teller(view, SERVICE, heard, now), wire.Lost, why).step(),))
    if not heard.outcomes:
        return Decision(calls=(Call(APPLY, job.cluster, job.id, job.attempt, copy_of(job)),))
    outcome = heard.outcomes[-1]
    teller = Teller(view, SERVICE, heard, now)
    if outcome.ok:
        said = teller.say(wire.Dispatched, cluster=job.cluster, uid=outcome.body.uid, adopted=outcome.body.adopted)
        return Decision((said.step(),))
    if outcome.code in _PASSING:
        return Decision(again_in=_AGAIN_MS)
    code = Code.NAME_CONFLICT if outcome.code == "NameConflict" else Code.APPLY_REFUSED
    text = f"{job.cluster} refused the object: {outcome.text}"
    return Decision((attempt_over(teller, wire.Lost, Reason(code, text, remedy=_remedy(code))).step(),))


def _undo(view: Jobs, heard: Heard) -> Decision:
    """The attempt was ended while it was being applied: what was put there is taken out again."""
    job = view.jobs.get(heard.message.job)
    late = heard.outcomes and heard.outcomes[-1].call.verb == APPLY and heard.outcomes[-1].ok
    if job is None or job.spec is None or not late:
        return NOTHING
    if job.state in (State.DISPATCHED, State.RUNNING) and job.attempt == heard.message.attempt:
        return NOTHING  # another instance said so first
    return Decision(calls=(Call(DELETE, heard.message.cluster, job.id, heard.message.attempt, copy_of(job)),))


def _recall(view: Jobs, heard: Heard, now: int) -> Decision:
    message: wire.Recall = heard.message
    job = view.jobs.get(message.job)
    if job is None or job.spec is None or not message.cluster:
        return NOTHING
    if (job.removing, job.recalled) != (message.cluster, message.attempt):
        return NOTHING
    if not heard.outcomes:
        return Decision(calls=(Call(DELETE, message.cluster, job.id, message.attempt, copy_of(job)),))
    if not gone(heard.outcomes[-1]):
        return Decision(again_in=_AGAIN_MS)
    teller = Teller(view, SERVICE, heard, now)
    return Decision((teller.say(wire.Removed, attempt=message.attempt, cluster=message.cluster).step(),))


def gone(outcome: Outcome) -> bool:
    return outcome.ok and bool(outcome.body)


def copy_of(job: Job) -> Copy:
    assert job.spec is not None, "a job with an attempt was admitted"
    work = job.spec.workload
    hub = job.spec.hub.uid if job.spec.hub else ""
    return Copy(f"{work.kind}.{work.api_version}", work.namespace, work.name, job.spec.manifest, hub)


def _remedy(code: Code) -> str:
    if code is Code.NAME_CONFLICT:
        return "rename the job, or remove the object of that name from the cluster"
    return "see what the cluster says, and whether Fairway may create such objects there"
