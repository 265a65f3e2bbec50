"""Whose claim begins now. Pure.

A waiting job claims when others would give way to it and it was patient. From then on the quota that becomes free is
kept for it, and the scheduler is asked whom to evict, and where.
"""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from fairway.domain.decision import Say, Step
from fairway.domain.events import message_id
from fairway.domain.preemption.claim import ANSWER_MS
from fairway.domain.quota.charge import charge, quota_key
from fairway.domain.quota.node_terms import max_graces, preemption_terms
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources, add
from fairway.queue.order import QueueOrder
from fairway.queue.preemption.candidates import MOST_CANDIDATES, CandidatesOfLook, ClaimCandidates, leaves_of
from fairway.queue.preemption.claim_terms import ClaimWish, enough, kind_of, told, wish_of, with_reclaim
from fairway.queue.preemption.counted_usage import still_charged
from fairway.queue.preemption.ended_claims import end_claims
from fairway.queue.view import PATIENCE_EVERY_MS, SERVICE
from fairway.queue.waiting.waiting_job import QUOTA, ROOM, WaitingJob
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.preemption.evictions import Relieve
from fairway.wire.reasons import Code

# So many claims wait for the scheduler's answer at most.
_UNANSWERED = 64
# Of one leaf so many of those that stand first and have no claim are looked at: who is behind them claims when they
# have gone.
_LOOKS = 64
# A first claim of a job of few pods names so many candidates, which is nearly always enough; another one names all.
_FIRST_CANDIDATES = 512
_FEW_PODS = 8
# One look names so many and looks at so many jobs at most: some tens of milliseconds of the queue's time. The next one
# begins so many leaves further on.
_MOST_NAMED = 8 * MOST_CANDIDATES
_MOST_LOOKS = 2_048
_FURTHER = 32


def claim_room(turn: QueueOrder) -> None:
    """Ends the claims that lead to nothing, and begins those whose time has come."""
    if not turn.view.queued.entries:
        return  # nobody waits, and nobody has to know who is active
    end_claims(turn)
    looking = _Look(turn)
    leaves = sorted(turn.active.waiting)
    first = turn.now // PATIENCE_EVERY_MS * _FURTHER % len(leaves) if len(leaves) > _FURTHER else 0
    for leaf in (*leaves[first:], *leaves[:first]):
        if looking.over:
            return
        looking.at(leaf)


class _Look:
    """Of one moment: how many more claims may begin, and what was found of leaves and of jobs, each kind of them looked
    into once. `_expected` is what will be given back of the quota, by its keys, and counts as charged: to claims that
    have no answer yet, or for which not all were heard to leave, so that who comes after them needs no victims for it;
    and by jobs of which that is heard next."""

    def __init__(self, turn: QueueOrder) -> None:
        self._turn = turn
        self._candidates = CandidatesOfLook(turn)
        self._lowest: dict[str, int | None] = {}
        self._in_vain: set[object] = set()
        self._named = self._looks = 0
        self._expected = _about_to_be_given_back(turn)
        self._closed: set[str] = set()
        self._open = Counter(turn.active.entries[name].job.leaf for name in turn.active.claims)
        self._free = _UNANSWERED
        for name, short in still_charged(turn).items():
            one = turn.active.entries[name]
            self._closed.add(preemption_terms(tuple(turn.nodes(one.path))).domain)
            self._expected = add(self._expected, short)
            if one.claim is not None and not one.claim.cluster:
                self._free -= 1

    @property
    def over(self) -> bool:
        return self._free <= 0 or self._named >= _MOST_NAMED or self._looks >= _MOST_LOOKS

    def at(self, leaf: str) -> None:
        """Those that stand first in a leaf claim, as far as they may, and before others who is within a min: where
        nobody waits for an answer."""
        turn = self._turn
        active = turn.active
        first = active.entries[active.waiting[leaf][0][-1]]
        path = turn.nodes(first.path)
        if preemption_terms(tuple(path)).domain in self._closed:
            return
        if not _guarantees(turn, path) and not self._outranks(path, first.job.priority):
            return
        places = active.waiting[leaf].islice(0, _LOOKS + self._open[leaf])
        names = [place[-1] for place in places if place[-1] not in active.claims]
        # Claims of others may come to nothing, and keep back who is behind them until they are answered.
        names.sort(key=lambda name: active.levels.guarantor(name) is None)
        for name in names:
            self._looks += 1
            entry = turn.view.queued.entries.get(name)
            if entry is None or not _may(turn, entry):
                continue
            made = self._claim(entry)
            if self.over or (made is not None and _leaves_over(turn, made, entry)):
                return

    def _outranks(self, path: Sequence[QuotaNode], priority: int) -> bool:
        """Whether anybody in its domain runs with less priority."""
        terms = preemption_terms(tuple(path))
        if not terms.by_priority:
            return False
        if terms.domain not in self._lowest:
            placed = self._turn.active.placed
            leaves = leaves_of(self._turn, path, terms.domain)
            self._lowest[terms.domain] = min((placed[leaf][0][0] for leaf in leaves), default=None)
        lowest = self._lowest[terms.domain]
        return lowest is not None and lowest < priority

    def _claim(self, entry: WaitingJob) -> ClaimCandidates | None:
        """Whom it may have, if it claims now. Of jobs that are alike one is looked into, where that is in vain."""
        turn = self._turn
        kind = kind_of(turn, entry)
        wish = wish_of(turn, entry, self._expected) if kind not in self._in_vain else None
        made = self._found(entry, wish) if wish is not None else None
        if wish is None or made is None:
            self._in_vain.add(kind)
            return None
        self._free -= 1
        self._expected = add(self._expected, wish.short)
        turn.count(charge(wish.mine.path, entry.request))
        return made

    def _found(self, entry: WaitingJob, wish: ClaimWish) -> ClaimCandidates | None:
        """And says so. Who has claimed in vain before, needs much, or more than the first ones give back, names all."""
        few = entry.job.claim is None and entry.spec.workload.pods <= _FEW_PODS
        made = self._found_among(_FIRST_CANDIDATES, entry, wish) if few else None
        return made or self._found_among(MOST_CANDIDATES, entry, wish)

    def _found_among(self, most: int, entry: WaitingJob, wish: ClaimWish) -> ClaimCandidates | None:
        turn = self._turn
        needed = wish.short
        made = self._candidates.of(wish.mine, wish.all, most)
        in_vain = told(entry) is Code.NO_VICTIMS or not enough(made, needed)
        guarantor = turn.active.levels.guarantor(entry.job.id)
        if wish.beyond and guarantor is not None and in_vain and enough(made, wish.beyond):
            wish = replace(wish, mine=with_reclaim(entry, wish.mine, guarantor))
            needed = wish.all
            made = self._candidates.of(wish.mine, needed, most)
        self._named += len(made.found.attempts)
        if not made.found.attempts or not enough(made, needed):
            return None
        _say(turn, entry, wish, replace(_question(turn, entry, wish, made), short=needed))
        return made


def _about_to_be_given_back(turn: QueueOrder) -> Resources:
    """By messages that were read with this one and come after it: rows of jobs are as they will be then."""
    found: dict[str, int] = {}
    for share in turn.view.owed.values():
        for one in share.adds(1):
            found[one.key] = found.get(one.key, 0) + one.amount
    return found


def _guarantees(turn: QueueOrder, path: Sequence[QuotaNode]) -> bool:
    """Whether any node has not all of its min in use."""
    usage = turn.usage
    return any(
        usage.get(quota_key(node.path, name), 0) < least for node in path[1:] for name, least in node.min.items()
    )


def _may(turn: QueueOrder, entry: WaitingJob) -> bool:
    job = entry.job
    claim = job.claim
    if not entry.spec.evicts or entry.lacks not in (QUOTA, ROOM) or job.cancelling:
        return False
    return (claim is None or (not claim.open and turn.now >= claim.again)) and turn.leads(entry)


def _leaves_over(turn: QueueOrder, made: ClaimCandidates, entry: WaitingJob) -> bool:
    """Whether a victim may give back more than the job needs: then others of its leaf may go without anybody's leaving,
    and claim once more is known of this one. Else each of them would have a victim of its own."""
    names = [attempt.rpartition("/")[0] for attempt in made.found.attempts]
    asks = [turn.active.entries[name].job.asks for name in names]
    return any(amount > entry.request.get(name, 0) for one in asks for name, amount in one.items())


def _say(turn: QueueOrder, entry: WaitingJob, wish: ClaimWish, asked: Relieve) -> None:
    job = entry.job
    guarantor = turn.active.levels.guarantor(job.id)
    teller = turn.teller(job).say(
        wire.Claimed,
        claim=asked.claim,
        causes=wish.mine.causes,
        level=asked.level,
        guarantor=guarantor.path if guarantor else "",
        until=asked.until,
        short=wish.short,
    )
    step = teller.step()
    name = message_id(SERVICE, turn.heard.id, job.id, "relieve", job.attempt, asked.claim)
    turn.steps.append(Step(step.writes, (*step.events, Say(name, subjects.relief("relieve"), asked))))


def _question(turn: QueueOrder, entry: WaitingJob, wish: ClaimWish, made: ClaimCandidates) -> Relieve:
    claim = entry.job.claim
    return Relieve(
        job=entry.job.id,
        tenant=entry.job.tenant,
        attempt=entry.job.attempt,
        at=turn.now,
        cause=turn.heard.id,
        claim=claim.number + 1 if claim is not None else 1,
        until=turn.now + ANSWER_MS,
        candidates=made.found,
        lenders=made.lenders,
        paths=made.paths,
        reclaimable=wish.mine.reclaimable,
        level=wish.mine.level,
        max_grace=max_graces(turn.view.tree),
    )
