"""What follows a failed attempt: another one elsewhere, or the end."""

from collections.abc import Mapping
from typing import Any

from fairway.domain.attempts.cluster_avoidance import MOST_SHRUNK, UNSPENT
from fairway.domain.events import Teller
from fairway.domain.job import Job
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import NOTHING, FoundRef, Written

Fields = Mapping[str, Any]


def attempt_over(teller: Teller, kind: type[wire.Failed] | type[wire.Lost], why: Reason, left: bool = False) -> Teller:
    """Ends the present attempt, of which some may be `left` and still run. With attempts left the job goes back to its
    queue at once, with the next attempt's number and its first enqueue time; the queue lets it go only when nothing of
    the old attempt is left."""
    job = teller.job
    assert job is not None and job.spec is not None, "only an admitted job has attempts"
    number = spent(job)
    limit = job.spec.attempts
    if number >= limit:
        last = Reason(why.code, f"{why.text} (attempt {number} of {limit}; no attempts left)", why.field, why.remedy)
        return given_up(teller, kind, last, left)
    return next_attempt(teller, kind, why)


def given_up(teller: Teller, kind: type[wire.Failed] | type[wire.Lost], why: Reason, left: bool = False) -> Teller:
    """Ends the job with its present attempt."""
    job = teller.job
    assert job is not None, "only a known job can end"
    cluster = job.cluster
    teller.say(kind, cluster=cluster, why=why, final=True)
    # What failed by itself stays to be looked at; what was lost may still start, and what is left runs, on room that is
    # given away.
    return teller.say(wire.Recall, cluster=cluster, why=why) if left or kind is wire.Lost else teller


def spent(job: Job) -> int:
    """How many attempts the job has had, the present one included. Neither those that never came to be applied count,
    nor those that its owner took back, nor the first ones whose batch resources became less."""
    unspent = sum(one.why is not None and one.why.code in UNSPENT for one in job.attempts)
    return job.attempt - unspent - min(MOST_SHRUNK, _shrunk(job))


def _shrunk(job: Job) -> int:
    return sum(one.why is not None and one.why.code is Code.BATCH_SHRUNK for one in job.attempts)


def batch_shrunk(teller: Teller, why: Reason) -> Teller:
    """The present attempt ends because its batch resources became less, which is nothing that the job did."""
    job = teller.job
    assert job is not None, "only a known job has attempts"
    end = next_attempt if _shrunk(job) < MOST_SHRUNK else attempt_over
    return end(teller, wire.Lost, why)


def next_attempt(
    teller: Teller, kind: type[wire.Failed] | type[wire.Lost], why: Reason, recall: Fields | None = None, **more: Any
) -> Teller:
    """The present attempt is over and another one follows, whatever the number: for what was never begun, or has to
    make room. `more` are fields of the message that says so, `recall` those of the one that has it removed."""
    job = teller.job
    assert job is not None, "only a known job can be tried again"
    teller.say(kind, cluster=job.cluster, why=why, **more)
    return _recalled(teller, job, why, **recall or {})


def come_back(teller: Teller) -> Teller:
    """What follows when an attempt is over and another one comes, as far as it was not said yet: a store that was lost
    takes with it what was committed and not said."""
    job = teller.job
    assert job is not None and job.why is not None, "only a known job comes back, and for a reason"
    return _recalled(teller, job, job.why) if job.recalled < job.attempt else _queued_again(teller, job, job.why)


def _recalled(teller: Teller, job: Job, why: Reason, **more: Any) -> Teller:
    teller.say(wire.Recall, cluster=job.cluster, why=why, **more)
    return _queued_again(teller, job, why)


def _queued_again(teller: Teller, job: Job, why: Reason) -> Teller:
    note = Reason(
        Code.WAITING_FOR_REMOVAL, f"attempt {job.attempt} in {job.cluster} ended: {why.text}; it is being removed there"
    )
    return teller.say(
        wire.Queue, attempt=job.attempt + 1, queue=job.queue, leaf=job.leaf, enqueued_at=job.enqueued_at, why=note
    )


def go_back(teller: Teller, why: Reason, found: Written | FoundRef = NOTHING, freed: int = 0) -> Teller:
    """Returns a job that found no room to its queue, with its first enqueue time."""
    job = teller.job
    assert job is not None, "only a known job can go back"
    return teller.say(
        wire.Queue, queue=job.queue, leaf=job.leaf, enqueued_at=job.enqueued_at, why=why, found=found, freed=freed
    )
