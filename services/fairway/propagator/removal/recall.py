"""An attempt is asked back: deleted in its member, after its notice where it has one. Pure."""

from typing import Any

import msgspec

from fairway.domain.decision import NOTHING, Call, Decision, Heard, Outcome
from fairway.domain.events import JobRows, Teller
from fairway.domain.job import Job, State
from fairway.propagator.calls import AGAIN_MS, DELETE, NOTICE, Copy, Notice, copy_of
from fairway.propagator.view import SERVICE
from fairway.wire import jobs as wire
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED
from fairway.workloads.kinds.registry import status

# An attempt that was given notice is looked at again this often: it may have ended, and pods may have come (ms).
_NOTICED_MS = 5_000


def recall(view: JobRows, heard: Heard[object], message: wire.Recall, now: int) -> Decision:
    job = view.jobs.get(message.job)
    if job is None or job.spec is None or not message.cluster:
        return NOTHING
    awaited = (job.removing, job.recalled) == (message.cluster, message.attempt)
    # Of a job that is cancelled a stray of an earlier attempt goes all the same, and nobody waits for it.
    stray = message.attempt < job.attempt and (job.cancelling or job.state is State.CANCELLED)
    if not awaited and not stray:
        return NOTHING
    outcome = heard.outcomes[-1] if heard.outcomes else None
    if outcome is None or outcome.call.verb != DELETE:
        return _asked_to_go(job, outcome, message, 0 if stray else message.delete_at - now)
    if not (outcome.ok and outcome.body):
        return Decision(again_in=AGAIN_MS)
    if not awaited:
        return NOTHING
    teller = Teller(view, SERVICE, heard, now, job.id)
    return Decision((teller.say(wire.Removed, attempt=message.attempt, cluster=message.cluster).step(),))


def _asked_to_go(job: Job, noticed: Outcome | None, message: wire.Recall, left: int) -> Decision:
    """Deleted in `left` ms, or as soon as it has ended by itself; until then its pods are told when that is. Where they
    cannot be told they have the time all the same."""
    copy = copy_of(job, message.attempt)
    if left <= 0 or (noticed is not None and noticed.ok and _over(job, noticed.body)):
        body: Copy | Notice = msgspec.structs.replace(copy, grace=message.grace)
        return Decision(calls=(Call(DELETE, message.cluster, job.id, message.attempt, body),))
    if noticed is None:
        body = Notice(copy, message.delete_at)
        return Decision(calls=(Call(NOTICE, message.cluster, job.id, message.attempt, body),))
    wait = _NOTICED_MS if noticed.ok or noticed.code else AGAIN_MS
    return Decision(again_in=min(wait, left))


def _over(job: Job, found: dict[str, Any] | None) -> bool:
    """Whether nothing of the attempt has anything left to do."""
    assert job.spec is not None, "a job with an attempt was admitted"
    return found is None or status(found, job.spec.workload, found.get("status")).state in (SUCCEEDED, FAILED)
