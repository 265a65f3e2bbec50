"""By what right a waiting job would claim now, and how much of quota others have to give back for it. Pure."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from fairway.domain.preemption.claim import within_min
from fairway.domain.preemption.levels import GUARANTEED, SPARE
from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.node_terms import preemption_terms
from fairway.domain.quota.tree import QuotaNode
from fairway.queue.preemption.candidates import Claimant, ClaimCandidates, lower
from fairway.queue.standing import Standings
from fairway.queue.waiting.waiting_job import WaitingJob
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code


class ClaimWish(Struct, frozen=True):
    """What a claim asks for: `short` is what the job lacks below the maximum of each node, by quota key, and `beyond`
    what others below its guarantor use of that one's min, where it has to get this back first."""

    mine: Claimant
    short: dict[str, int]
    beyond: dict[str, int]

    @property
    def all(self) -> dict[str, int]:
        return {**self.short, **self.beyond}


def kind_of(stands: Standings, entry: WaitingJob) -> object:
    """What counts of a job when it would claim: of two that are alike in this one has as little reason to as the
    other."""
    job = entry.job
    guarantor = stands.active.levels.guarantor(job.id)
    terms = preemption_terms(tuple(stands.path(job)))
    waited = stands.now - job.since
    patient = (waited >= terms.reclaim_after, waited >= terms.preempt_after)
    asks = tuple(sorted(entry.request.items()))
    return job.leaf, guarantor and guarantor.path, entry.spec.priority, asks, patient, entry.spec.evictable, told(entry)


def wish_of(stands: Standings, entry: WaitingJob, expected: Mapping[str, int]) -> ClaimWish | None:
    """None: it may not claim now. `expected` is what others get back that counts as charged already."""
    mine = _claimant(stands, entry)
    if not mine.causes or stands.short_of_min_now(entry) is not None:
        return None
    usage = stands.counted(entry)
    left = {key: amount - expected.get(key, 0) for key, amount in usage.items()} if expected else usage
    return ClaimWish(mine, _short(entry, mine, left), _beyond_min(stands, entry, mine, left))


def _claimant(stands: Standings, entry: WaitingJob) -> Claimant:
    """By which causes others may be evicted for it now."""
    job = entry.job
    active = stands.active
    path = stands.path(job)
    terms = preemption_terms(tuple(path))
    guarantor = active.levels.guarantor(job.id)
    level = GUARANTEED if guarantor is not None else SPARE
    waited = stands.now - job.since
    mine = Claimant(active.entries[job.id], path, level, ())
    if waited >= terms.preempt_after and next(lower(stands, mine.entry, path, level), None) is not None:
        mine = replace(mine, causes=(Cause.PREEMPTION,))
    if guarantor is None or waited < terms.reclaim_after or not _owed(stands, entry, guarantor):
        return mine
    return with_reclaim(entry, mine, guarantor)


def _owed(stands: Standings, entry: WaitingJob, guarantor: QuotaNode) -> bool:
    """Whether any node, from its guarantor up, stays within its min with the job: jobs of its own leaf may have the min
    of that, whom it precedes, and those above still be owed as much."""
    path = stands.path(entry.job)
    above = path[1 : path.index(guarantor) + 1] if len(path) > 1 else path
    usage = stands.counted(entry)
    return any(within_min(node, usage, entry.request) for node in above)


def with_reclaim(entry: WaitingJob, mine: Claimant, guarantor: QuotaNode) -> Claimant:
    """It gets back what its guarantor names, and nothing else."""
    reclaimable = tuple(sorted(name for name in guarantor.min if entry.request.get(name)))
    return replace(mine, causes=(Cause.RECLAIM, *mine.causes), reclaimable=reclaimable)


def _beyond_min(stands: Standings, entry: WaitingJob, mine: Claimant, usage: Mapping[str, int]) -> dict[str, int]:
    """Once those who go by priority have given that back, the rest may be reclaimed."""
    guarantor = stands.active.levels.guarantor(entry.job.id)
    if guarantor is None or Cause.RECLAIM in mine.causes:
        return {}
    if stands.now - entry.job.since < preemption_terms(tuple(mine.path)).reclaim_after:
        return {}
    found = {}
    for name, least in guarantor.min.items():
        key = quota_key(guarantor.path, name)
        beyond = usage.get(key, 0) + entry.request.get(name, 0) - least
        if beyond > 0 and entry.request.get(name):
            found[key] = beyond
    return found


def told(entry: WaitingJob) -> Code | None:
    """How its last claim ended, if it claimed."""
    claim = entry.job.claim
    return claim.why.code if claim is not None and claim.why is not None else None


def _short(entry: WaitingJob, mine: Claimant, usage: Mapping[str, int]) -> dict[str, int]:
    found = {}
    for node in mine.path:
        for name, most in node.max.items():
            key = quota_key(node.path, name)
            lacking = usage.get(key, 0) + entry.request.get(name, 0) - most
            if lacking > 0 and entry.request.get(name):
                found[key] = lacking
    return found


def enough(made: ClaimCandidates, short: Mapping[str, int]) -> bool:
    """Whether all of them together would give back what of quota is lacking."""
    for key, lacking in short.items():
        node, _, name = key.rpartition("|")
        within = [node in path for path in made.paths]
        charges = zip(made.found.charge[name], made.found.path, strict=True)
        if sum(charge for charge, path in charges if path >= 0 and within[path]) < lacking:
            return False
    return True
