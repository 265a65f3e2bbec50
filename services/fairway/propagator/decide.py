"""Hold its room there, apply it there, change it or delete it there: first the call, then what its outcome means."""

from collections.abc import Callable

from fairway.domain.attempts.retry import attempt_over, given_up, next_attempt
from fairway.domain.decision import NOTHING, Call, Decision, Heard, Outcome
from fairway.domain.events import JobRows, Teller, current
from fairway.domain.job import Job, State
from fairway.domain.tenancy.profile import reserved, reserved_reason
from fairway.propagator.adjust import adjust
from fairway.propagator.calls import AGAIN_MS, APPLY, DELETE, HOLD, RELEASE, Made, copy_of
from fairway.propagator.refusals import not_the_jobs, passes, refused
from fairway.propagator.removal.recall import recall
from fairway.propagator.view import SERVICE, View
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

# Room that is being held is looked at again this soon. When none was added for so long there is none to be had: where
# the member's scheduler says why, and where it says nothing, for it may be behind (ms).
_LOOK_MS = 100
_PATIENCE_MS = 2_000
_SILENT_MS = 15_000
Hears = wire.Reserved | wire.Adjust | wire.Recall


def decide(view: View, heard: Heard[Hears], now: int) -> Decision:
    message = heard.message
    if isinstance(message, wire.Recall):
        return recall(view, heard, message, now)
    if isinstance(message, wire.Adjust):
        return adjust(view, heard, message, now)
    return _dispatch(view, heard, message, now)


def _dispatch(view: View, heard: Heard[object], message: wire.Reserved, now: int) -> Decision:
    job = current(view, message, State.RESERVED)
    if job is None or job.cancelling or job.recalled == job.attempt:
        return _undo(view, heard, message)
    if not heard.outcomes:
        return _begun(view, heard, job, now)
    outcome = heard.outcomes[-1]
    teller = Teller(view, SERVICE, heard, now, job.id)
    if passes(outcome, message.expires_at - now):
        return Decision(again_in=AGAIN_MS)
    if not outcome.ok:
        return _refused(teller, job, outcome)
    if outcome.call.verb == HOLD:
        return _held(teller, job, outcome)
    made = outcome.body
    facts = {"uid": made.uid, "adopted": made.adopted, "companions": made.companions}
    return Decision((teller.say(wire.Dispatched, cluster=job.cluster, **facts).step(),))


def _begun(view: View, heard: Heard[object], job: Job, now: int) -> Decision:
    """Nothing was called yet."""
    if job.removing:
        return Decision(again_in=AGAIN_MS)  # an older attempt turned up somewhere: first it has to go
    if job.id in view.stored:
        # The working set was lost after the room was held and before that was recorded: nobody holds it now.
        why = Reason(Code.RESERVATION_EXPIRED, f"its reservation in {job.cluster} was lost with the working set")
        return Decision((next_attempt(Teller(view, SERVICE, heard, now, job.id), wire.Lost, why).step(),))
    copy = copy_of(job)
    if reserved(copy.namespace, view.reserved):
        # Admitted by a version that did not ask, or by nobody.
        why = reserved_reason(copy.namespace)
        return Decision((given_up(Teller(view, SERVICE, heard, now, job.id), wire.Lost, why).step(),))
    return Decision(calls=(Call(HOLD if copy.room else APPLY, job.cluster, job.id, job.attempt, copy),))


def _refused(teller: Teller, job: Job, outcome: Outcome) -> Decision:
    over: Callable[[Teller, type[wire.Lost], Reason], Teller]
    over = given_up if outcome.code in (Code.UNSAFE_POD, Code.COMPANION_REFUSED) else attempt_over
    if not_the_jobs(outcome):
        over = next_attempt
    return Decision((over(teller, wire.Lost, refused(job, outcome)).step(),))


def _held(teller: Teller, job: Job, outcome: Outcome) -> Decision:
    """All of its room is held, and it may be applied; or there is none to be had, and it goes back to its queue. What
    was held goes with the recall."""
    made: Made = outcome.body
    if made.ready >= made.total:
        return Decision(calls=(Call(APPLY, job.cluster, job.id, job.attempt, copy_of(job)),))
    if made.idle < (_PATIENCE_MS if made.why else _SILENT_MS):
        return Decision(again_in=_LOOK_MS)
    why = made.why or f"its scheduler has said nothing of the others for {_SILENT_MS // 1000} s"
    text = f"{job.cluster} holds room for {made.ready} of {made.total} pods; {why}"
    return Decision((next_attempt(teller, wire.Lost, Reason(Code.ROOM_TAKEN, text)).step(),))


def _undo(view: JobRows, heard: Heard[object], message: wire.Reserved) -> Decision:
    """The attempt was ended while it was being applied: what was put there is taken out again."""
    job = view.jobs.get(message.job)
    late = heard.outcomes[-1] if heard.outcomes and heard.outcomes[-1].call.verb in (HOLD, APPLY) else None
    if job is None or job.spec is None or late is None or not (late.ok or late.call.verb == HOLD):
        return NOTHING
    if job.state in (State.DISPATCHED, State.RUNNING) and job.attempt == message.attempt:
        return NOTHING  # another instance said so first
    attempt = message.attempt
    verb = RELEASE if late.call.verb == HOLD else DELETE
    return Decision(calls=(Call(verb, message.cluster, job.id, attempt, copy_of(job, attempt)),))
