"""Whom a claim may evict, in the order in which they would rather go. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Struct

from fairway.domain.preemption.claim import KEPT_MS
from fairway.domain.preemption.precedence import by_priority
from fairway.domain.quota.node_terms import max_grace, max_graces, preemption_terms
from fairway.domain.quota.tree import MAX_JOBS, QuotaNode
from fairway.domain.resources import Resources
from fairway.queue.preemption.active_jobs import Active, ActiveJobs
from fairway.queue.preemption.counted_usage import party
from fairway.queue.preemption.lending_leaves import MILLION, LendingLeaves
from fairway.queue.standing import Standings
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Candidates, Lender

MOST_CANDIDATES = 4_096
# A level below all others: an attempt that leaves already, whose room is nobody's work.
LEAVING = -1
_LEAVING_PRIORITY = -(2**31)
# What is lost: the work, up to the next power of two, and below it the thousandths of the fleet that its leaf has not
# borrowed. The other way round a day of work went where an hour of a leaf that had borrowed less would have done. Sums
# over all candidates stay below 2**63. Who has run for less than ten minutes loses as little as any other.
_ALL = 1_000
_MOST_WORK = (1 << 39) - 1
_LITTLE_S = 600
_Named = TypeVar("_Named", str, tuple[str, ...])


class ClaimCandidates(NamedTuple):
    """What a claim's command says of others. `paths` and `lenders` are named by their place in them."""

    found: Candidates
    lenders: tuple[Lender, ...]
    paths: tuple[tuple[str, ...], ...]


class Claimant(Struct, frozen=True):
    """The job whose claim it is, by which `causes` it may evict, and which resources its guarantor gets back for it."""

    entry: Active
    path: Sequence[QuotaNode]
    level: int
    causes: tuple[Cause, ...]
    reclaimable: tuple[str, ...] = ()


class CandidatesOfLook:
    """Of one look for claims. Those that claim alike have the same ones, which are named once."""

    def __init__(self, stands: Standings) -> None:
        self._stands = stands
        self._lending = LendingLeaves(stands)
        self._made: dict[object, ClaimCandidates] = {}

    def of(self, mine: Claimant, short: Mapping[str, int], most: int) -> ClaimCandidates:
        """`most` of them. `short` of quota, by its keys: where any is, it counts what each gives back."""
        entry = mine.entry
        if entry.leaving:
            return self._named(mine, short, most)  # without itself
        alike = (entry.path, entry.job.priority, mine.level, mine.causes, mine.reclaimable, frozenset(short), most)
        if alike not in self._made:
            self._made[alike] = self._named(mine, short, most)
        return self._made[alike]

    def _named(self, mine: Claimant, short: Mapping[str, int], most: int) -> ClaimCandidates:
        building = _Building(self._stands, mine, short, self._lending)
        for one, lender in building.in_order():
            building.add(one, lender)
            if building.count >= most:
                break
        return building.made()


def lower(stands: Standings, mine: Active, path: Sequence[QuotaNode], level: int) -> Iterator[Active]:
    """Whom the job may evict by its priority: the lowest priority first, of one the newest."""
    active = stands.active
    own = party(active, mine, path)
    for leaf in leaves_of(stands, path, own.domain):
        if active.placed[leaf][0][0] >= own.priority:
            continue
        terms = preemption_terms(tuple(stands.nodes(active.entries[active.placed[leaf][0][-1]].path)))
        for priority, _, name in active.placed[leaf]:
            one = active.entries[name]
            if priority >= own.priority:
                break
            spared = one.evicted >= terms.max_evictions or stands.now - one.since < terms.min_runtime
            if one.leaving or one.fixed or spared or active.levels.level(name) > level:
                continue
            if by_priority(own, party(active, one, stands.nodes(one.path))):
                yield one


def leaves_of(stands: Standings, path: Sequence[QuotaNode], domain: str | None) -> list[str]:
    """The leaves of a domain, to which the leaf of this path belongs, in which anything runs."""
    if domain is None:
        return []
    placed = stands.active.placed
    if path and domain == path[-1].path:  # nearly always it is one of itself
        return [domain] if domain in placed else []
    inside = f"{domain}/"
    return sorted(leaf for leaf in placed if not domain or leaf == domain or leaf.startswith(inside))


class _Building:
    def __init__(self, stands: Standings, mine: Claimant, short: Mapping[str, int], lending: LendingLeaves) -> None:
        self._stands = stands
        self._lending = lending
        self._mine = mine
        self._charged = {*mine.reclaimable, *(key.rpartition("|")[2] for key in short)} if short else set()
        self._found: dict[str, tuple[Active, int]] = {}
        self._lenders: list[Lender] = []
        self._lender_at: dict[str, int] = {}
        self._borrowed_of: dict[int, int] = {-1: 0}

    @property
    def _active(self) -> ActiveJobs:
        return self._stands.active

    @property
    def count(self) -> int:
        return len(self._found)

    def add(self, one: Active, lender: int) -> None:
        if one.job.id != self._mine.entry.job.id:
            self._found.setdefault(one.job.id, (one, lender))

    def in_order(self) -> Iterator[tuple[Active, int]]:
        """Those on their way out, who are nobody's loss, then those who go by priority, then those who borrow."""
        mine = self._mine
        for one in self._leaving():
            yield one, -1
        if Cause.PREEMPTION in mine.causes:
            for one in lower(self._stands, mine.entry, mine.path, mine.level):
                yield one, -1
        if Cause.RECLAIM in mine.causes:
            yield from self._borrowers()

    def _leaving(self) -> Iterator[Active]:
        """Who has not gone long after his time is stuck there, and gives nothing back as far as anybody knows."""
        graces = max_graces(self._stands.view.tree)
        for name in self._active.leaving.jobs:
            one = self._active.entries[name]
            if self._stands.now - one.since < max_grace(one.path, graces) + KEPT_MS:
                yield one

    def made(self) -> ClaimCandidates:
        levels = self._active.levels
        found = self._found.values()
        whom = [one for one, _ in found]
        clusters = _places(one.cluster for one in whom)
        paths = _places(one.path for one in whom if self._charged and not one.gave_back)
        columns = Candidates(
            attempts=tuple([f"{one.job.id}/{one.attempt}" for one in whom]),
            clusters=tuple(clusters),
            cluster=tuple([clusters[one.cluster] for one in whom]),
            level=tuple([LEAVING if one.leaving else levels.level(one.job.id) for one in whom]),
            priority=tuple([_LEAVING_PRIORITY if one.leaving else one.job.priority for one in whom]),
            lender=tuple([lender for _, lender in found]),
            lost=tuple([0 if one.leaving else self._lost(one, lender) for one, lender in found]),
            path=tuple([-1 if one.gave_back else paths[one.path] for one in whom]) if self._charged else (),
            charge={
                name: tuple([0 if one.gave_back else one.job.asks.get(name, 0) for one in whom])
                for name in sorted(self._charged)
            },
        )
        return ClaimCandidates(columns, tuple(self._lenders), tuple(paths))

    def _borrowers(self) -> Iterator[tuple[Active, int]]:
        """Who is on what its leaf has borrowed: the leaf most over its min first, in it the lowest priority, then the
        newest."""
        active = self._active
        for leaf in self._lending.of(tuple(node.path for node in self._mine.path), self._mine.reclaimable):
            lender = self._lender(leaf.below)
            self._borrowed_of[lender] = leaf.borrowed * _ALL // MILLION
            for _, _, name in active.placed[leaf.below[-1].path]:
                one = active.entries[name]
                if not one.leaving and not one.fixed and active.levels.level(name) < self._mine.level:
                    yield one, lender

    def _lender(self, below: Sequence[QuotaNode]) -> int:
        """The place of the last of these nodes among the lenders; each names the one above it."""
        above = -1
        for node in below:
            if node.path not in self._lender_at:
                self._lender_at[node.path] = len(self._lenders)
                over = self._lending.over(node, self._mine.reclaimable)
                least = {name: node.min.get(name, 0) for name in over}
                self._lenders.append(Lender(node.path, above, over, least))
            above = self._lender_at[node.path]
        return above

    def _lost(self, one: Active, lender: int) -> int:
        whole = self._stands.view.tree
        seconds = max(_LITTLE_S, (self._stands.now - one.since) // 1_000)
        work = seconds * largest_share(one.job.asks, whole.max if whole else {})
        spared = min(_ALL - 1, max(0, _ALL - self._borrowed_of[lender]))
        return (1 << min(work, _MOST_WORK).bit_length()) * _ALL + spared


def largest_share(asks: Resources, total: Mapping[str, int]) -> int:
    """Of what is asked for in the whole, in millionths; 1 at least, and where the whole is not known."""
    shares = [amount * MILLION // total[name] for name, amount in asks.items() if total.get(name) and name != MAX_JOBS]
    return max(1, max(shares, default=1))


def _places(names: Iterable[_Named]) -> dict[_Named, int]:
    """Each once, in the order in which they come, and where that is."""
    return {name: at for at, name in enumerate(dict.fromkeys(names))}
