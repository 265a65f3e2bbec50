"""Open claims that lead to nothing: they have taken too long, or the tree cannot hold their job any more. Pure."""

from fairway.domain.preemption.open_claim import came_to_nothing, withdraw
from fairway.domain.quota.lending import never_lent
from fairway.domain.quota.tree import ever_fits
from fairway.queue.order import QueueOrder
from fairway.queue.waiting.waiting_job import QUOTA, WaitingJob
from fairway.wire.reasons import Code, Reason


def end_claims(turn: QueueOrder) -> None:
    """Each with its reason."""
    for name, until in list(turn.active.until.items()):
        entry = turn.view.queued.entries[name]
        why = _too_large(turn, entry)
        if why is not None:
            turn.steps.append(withdraw(turn.teller(entry.job), why).step())
        elif turn.now >= until:
            turn.steps.append(came_to_nothing(turn.teller(entry.job), _expired(turn, entry), turn.now).step())


def _too_large(turn: QueueOrder, entry: WaitingJob) -> Reason | None:
    """Those who have left for it left in vain, but others need not wait for what is kept for it."""
    if entry.lacks != QUOTA:
        return None
    path = tuple(turn.path(entry.job))
    refusal = ever_fits(path, entry.request) or never_lent(path, entry.request)
    if refusal is None:
        return None
    return Reason(Code.CLAIM_WITHDRAWN, f"the quota tree was changed: the job {refusal.text}", remedy=refusal.remedy)


def _expired(turn: QueueOrder, entry: WaitingJob) -> Reason:
    job = entry.job
    assert job.claim is not None, "it is open"
    quota = turn.quota(entry) if job.id in turn.active.ready else None
    if quota is not None:
        # Another tree took it, or who goes for quota alone, perhaps in another cluster, has not gone.
        text = f"room in {job.claim.cluster} that is kept for it is free, and its quota is not: {quota.text}"
        return Reason(Code.CLAIM_EXPIRED, text, remedy=quota.remedy)
    what = f"room in {job.claim.cluster} that is kept for it" if job.claim.cluster else "an answer of the scheduler"
    return Reason(Code.CLAIM_EXPIRED, f"{what} did not come in time", remedy="see what still runs there")
