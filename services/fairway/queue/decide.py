"""A job waits, goes, is cancelled. Woken by what it lacks and by nothing else."""

from fairway.domain.attempts.retry import come_back, next_attempt
from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.events import Teller, current
from fairway.domain.job import State
from fairway.queue.cancel import cancel, cancelled
from fairway.queue.changes import changes
from fairway.queue.order import QueueOrder
from fairway.queue.owner_changes import too_soon
from fairway.queue.preemption.claiming import claim_room
from fairway.queue.view import SERVICE, Hears, Patience, View
from fairway.queue.waiting.waiting_job import retry_at
from fairway.queue.wake_ups import wake
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

_MORE_MS = 1
# Kinds of messages that are looked for in each one.
_OVER = (wire.Failed, wire.Lost, wire.Removed)
_EARLY = (wire.HoldJob, wire.Revised)


def decide(view: View, heard: Heard[Hears], now: int) -> Decision:
    """First what the message changed; then everybody who may wait for that, in order."""
    message = heard.message
    if isinstance(message, wire.Cancel):
        return cancel(view, heard, message, now)
    if (back := _comes_back(view, heard, now)) is not None:
        return back
    if isinstance(message, wire.Removed) and (ended := _removed(view, heard, message, now)) is not None:
        return ended
    if isinstance(message, _EARLY) and (wait := too_soon(view, message, heard.delivered)):
        return Decision(again_in=wait)
    turn = QueueOrder(view, heard, now)
    if isinstance(message, Patience):
        claim_room(turn)
        return Decision(tuple(turn.steps))
    for change in changes(turn, message):
        wake(turn, change)
    return Decision(tuple(turn.steps), again_in=_again(turn, message))


def _again(turn: QueueOrder, message: Hears) -> int | None:
    """When to look once more: at those who have not followed their policy yet, or when a cluster is avoided no more."""
    if turn.more:
        return _MORE_MS
    job = current(turn.view, message, State.QUEUED) if isinstance(message, wire.Queue) else None
    if job is None or job.id in turn.gone:
        return None
    wait = retry_at(job) - turn.now
    return wait if wait > 0 else None


def _comes_back(view: View, heard: Heard[Hears], now: int) -> Decision | None:
    """An attempt is over, and that another one follows was lost with its working set before it was said."""
    message = heard.message
    if not isinstance(message, _OVER):
        return None
    job = view.jobs.get(message.job)
    if job is None or job.state is not State.RETURNING:
        return None
    return Decision((come_back(Teller(view, SERVICE, heard, now, job.id)).step(),))


def _removed(view: View, heard: Heard[object], message: wire.Removed, now: int) -> Decision | None:
    """Nothing is left of an attempt: a cancelled job has ended, one that was not dispatched in time goes back. One that
    waits may go again, and one that is held comes back (None)."""
    job = view.jobs.get(message.job)
    if job is None or job.removing or job.ended:
        return NOTHING
    if job.cancelling:
        return cancelled(view, heard, job, now)
    if job.state is State.RESERVED and job.attempt == message.attempt:
        why = Reason(Code.RESERVATION_EXPIRED, f"reserved in {job.cluster} and not dispatched in time")
        return Decision((next_attempt(Teller(view, SERVICE, heard, now, job.id), wire.Lost, why).step(),))
    return None
