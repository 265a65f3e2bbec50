"""Whose claim begins now, and which one has taken too long. Pure.

A waiting job claims when others would give way to it and it was patient. From then on the quota that becomes free is
kept for it, and the scheduler is asked whom to evict, and where.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from fairway.domain.decision import Say, Step
from fairway.domain.events import message_id
from fairway.domain.preemption.claim import ANSWER_MS, again_at, within_min
from fairway.domain.preemption.levels import GUARANTEED, SPARE
from fairway.domain.quota.charge import charge, quota_key
from fairway.domain.quota.node_terms import preemption_terms
from fairway.domain.quota.tree import QuotaNode
from fairway.queue.order import QueueOrder, withdraw
from fairway.queue.preemption.candidates import Candidates, Claimant, candidates, leaves_of, lower
from fairway.queue.view import SERVICE
from fairway.queue.waiting.waiting_job import QUOTA, ROOM, WaitingJob
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Relieve
from fairway.wire.reasons import Code, Reason

# So many claims wait for the scheduler's answer at most.
_UNANSWERED = 32
# Of one leaf so many of those that stand first are looked at: who is behind them claims when they have gone.
_LOOKS = 32


def claim_room(turn: QueueOrder) -> None:
    """Ends the claims that have taken too long, and begins those whose time has come."""
    free = _UNANSWERED
    for name in [name for name, until in turn.active.until.items() if turn.now >= until]:
        _expire(turn, name)
    for name in turn.active.claims:
        claim = turn.active.entries[name].claim
        free -= claim is not None and not claim.cluster
    for leaf in sorted(turn.active.waiting) if free > 0 else ():
        for entry in _first_in(turn, leaf):
            free -= _claim(turn, entry)
            if free <= 0:
                return


def _expire(turn: QueueOrder, name: str) -> None:
    job = turn.view.queued.entries[name].job
    assert job.claim is not None, "it is open"
    what = f"room in {job.claim.cluster} that is kept for it" if job.claim.cluster else "an answer of the scheduler"
    why = Reason(Code.CLAIM_EXPIRED, f"{what} did not come in time", remedy="see what still runs there")
    turn.steps.append(withdraw(turn.teller(job), why, again_at(job.claim.number, turn.now)).step())


def _first_in(turn: QueueOrder, leaf: str) -> Iterator[WaitingJob]:
    """Of those that stand first in a leaf, whoever may claim."""
    active = turn.active
    first = active.entries[active.waiting[leaf][0][-1]]
    path = turn.nodes(first.path)
    if not _guarantees(turn, path) and not _outranks(turn, path, first.job.priority):
        return
    for place in [*active.waiting[leaf].islice(0, _LOOKS)]:
        entry = turn.view.queued.entries.get(place[-1])
        if entry is not None and _may(turn, entry):
            yield entry


def _guarantees(turn: QueueOrder, path: list[QuotaNode]) -> bool:
    """Whether any node has not all of its min in use."""
    usage = turn.usage
    return any(
        usage.get(quota_key(node.path, name), 0) < least for node in path[1:] for name, least in node.min.items()
    )


def _outranks(turn: QueueOrder, path: list[QuotaNode], priority: int) -> bool:
    """Whether anybody in its domain runs with less priority."""
    terms = preemption_terms(tuple(path))
    placed = turn.active.placed
    return terms.by_priority and any(placed[leaf][0][0] < priority for leaf in leaves_of(turn, path, terms.domain))


def _may(turn: QueueOrder, entry: WaitingJob) -> bool:
    job = entry.job
    claim = job.claim
    if not entry.spec.evicts or entry.lacks not in (QUOTA, ROOM) or job.cancelling:
        return False
    return (claim is None or (not claim.open and turn.now >= claim.again)) and turn.leads(entry)


def _claim(turn: QueueOrder, entry: WaitingJob) -> bool:
    """Whether it claims now."""
    mine = _claimant(turn, entry)
    if not mine.causes or turn.short_of_min_now(entry) is not None:
        return False
    short = _short(turn, entry, mine)
    made = candidates(turn, mine, bool(short))
    if not made.found or not _enough(made, short):
        return False
    job = entry.job
    number = job.claim.number + 1 if job.claim is not None else 1
    asked = _question(turn, entry, mine, made, number)
    asked = replace(asked, short=short)
    guarantor = turn.active.levels.guarantor(job.id)
    teller = turn.teller(job).say(
        wire.Claimed,
        claim=number,
        causes=mine.causes,
        level=mine.level,
        guarantor=guarantor.path if guarantor else "",
        until=asked.until,
        short=short,
    )
    step = teller.step()
    name = message_id(SERVICE, turn.heard.id, job.id, "relieve", job.attempt, number)
    turn.steps.append(Step(step.writes, (*step.events, Say(name, subjects.relief("relieve"), asked))))
    turn.count(charge(mine.path, entry.request))
    return True


def _question(turn: QueueOrder, entry: WaitingJob, mine: Claimant, made: Candidates, number: int) -> Relieve:
    return Relieve(
        job=entry.job.id,
        tenant=entry.job.tenant,
        attempt=entry.job.attempt,
        at=turn.now,
        cause=turn.heard.id,
        claim=number,
        until=turn.now + ANSWER_MS,
        candidates=tuple(made.found),
        lenders=tuple(made.lenders),
        paths=tuple(made.paths),
        reclaimable=mine.reclaimable,
        causes=mine.causes,
        level=mine.level,
    )


def _claimant(turn: QueueOrder, entry: WaitingJob) -> Claimant:
    """By which causes others may be evicted for it now."""
    job = entry.job
    active = turn.active
    path = turn.path(job)
    terms = preemption_terms(tuple(path))
    guarantor = active.levels.guarantor(job.id)
    level = GUARANTEED if guarantor is not None else SPARE
    waited = turn.now - job.since
    causes = []
    reclaimable: tuple[str, ...] = ()
    asks_back = guarantor is not None and within_min(guarantor, turn.counted(entry), entry.request)
    if guarantor is not None and asks_back and waited >= terms.reclaim_after:
        causes.append(Cause.RECLAIM)
        reclaimable = tuple(sorted(name for name in guarantor.min if entry.request.get(name)))
    mine = active.entries[job.id]
    if waited >= terms.preempt_after and next(lower(turn, mine, path, level), None) is not None:
        causes.append(Cause.PREEMPTION)
    return Claimant(mine, path, level, tuple(causes), reclaimable)


def _short(turn: QueueOrder, entry: WaitingJob, mine: Claimant) -> dict[str, int]:
    """By quota key: what the job lacks below the maximum of each node."""
    usage = turn.counted(entry)
    found = {}
    for node in mine.path:
        for name, most in node.max.items():
            key = quota_key(node.path, name)
            lacking = usage.get(key, 0) + entry.request.get(name, 0) - most
            if lacking > 0 and entry.request.get(name):
                found[key] = lacking
    return found


def _enough(made: Candidates, short: Mapping[str, int]) -> bool:
    """Whether all of them together would give back what of quota is lacking."""
    for key, lacking in short.items():
        node, _, name = key.rpartition("|")
        given = sum(one.charge.get(name, 0) for one in made.found if one.path >= 0 and node in made.paths[one.path])
        if given < lacking:
            return False
    return True
