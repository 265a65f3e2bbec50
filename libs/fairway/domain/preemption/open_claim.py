"""The open claim of a job: how it ends, and which line of the ledger keeps room for it. Pure."""

from fairway.domain.events import Teller
from fairway.domain.job import Job
from fairway.domain.preemption.claim import again_at, hold_key
from fairway.wire import jobs as wire
from fairway.wire.reasons import Reason


def withdraw(teller: Teller, why: Reason, again: int = 0) -> Teller:
    """Ends the claim of the job, if one is open. Another one follows no sooner than `again`."""
    claim = teller.job.open_claim if teller.job is not None else None
    return teller.say(wire.Unclaimed, claim=claim.number, why=why, again=again) if claim is not None else teller


def came_to_nothing(teller: Teller, why: Reason, now: int) -> Teller:
    """Ends it, too: each time another one follows later."""
    claim = teller.job.open_claim if teller.job is not None else None
    return withdraw(teller, why, again_at(claim.number, now)) if claim is not None else teller


def kept_key(job: Job) -> str:
    """The key of the line that keeps room for it; empty when none does."""
    claim = job.open_claim
    return hold_key(job.id, job.attempt, claim.number) if claim is not None and claim.cluster else ""
