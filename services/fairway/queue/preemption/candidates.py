"""Whom a claim may evict, in the order in which they would rather go. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct, field

from fairway.domain.preemption.precedence import by_priority, lenders
from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.node_terms import preemption_terms, weight
from fairway.domain.quota.tree import MAX_JOBS, QuotaNode
from fairway.domain.resources import Resources
from fairway.queue.preemption.active_jobs import Active, ActiveJobs
from fairway.queue.preemption.counted_usage import party
from fairway.queue.standing import Standings
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Candidate, Lender

MOST_CANDIDATES = 4_096
# A level below all others: an attempt that leaves already, whose room is nobody's work.
LEAVING = -1
_MILLION = 1_000_000
# What is lost: thousandths of the fleet that its leaf has not borrowed, and below them the work.
_ALL = 1_000
_MOST_WORK = 10**12


class Candidates(Struct):
    """What a claim's command says of others. `paths` and `lenders` are named by their place in them."""

    found: list[Candidate] = field(default_factory=list)
    lenders: list[Lender] = field(default_factory=list)
    paths: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return len(self.found) >= MOST_CANDIDATES


class Claimant(Struct, frozen=True):
    """The job whose claim it is, by which `causes` it may evict, and which resources its guarantor gets back for it."""

    entry: Active
    path: Sequence[QuotaNode]
    level: int
    causes: tuple[Cause, ...]
    reclaimable: tuple[str, ...] = ()


def candidates(stands: Standings, mine: Claimant, with_charge: bool) -> Candidates:
    """`with_charge`: quota is short, so that it counts what each gives back."""
    building = _Building(stands, mine, with_charge)
    for one in building.leaving():
        building.add(one, -1)
    if Cause.PREEMPTION in mine.causes:
        for one in lower(stands, mine.entry, mine.path, mine.level):
            building.add(one, -1)
    if Cause.RECLAIM in mine.causes:
        for one, lender in building.borrowers():
            building.add(one, lender)
    return building.made


def lower(stands: Standings, mine: Active, path: Sequence[QuotaNode], level: int) -> Iterator[Active]:
    """Whom the job may evict by its priority: the lowest priority first, of one the newest."""
    active = stands.active
    own = party(active, mine, path)
    for leaf in leaves_of(stands, path, own.domain):
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
    return [leaf for leaf in sorted(placed) if not domain or leaf == domain or leaf.startswith(inside)]


class _Building:
    def __init__(self, stands: Standings, mine: Claimant, with_charge: bool) -> None:
        self.made = Candidates()
        self._stands = stands
        self._mine = mine
        self._with_charge = with_charge
        self._named: set[str] = {mine.entry.job.id}
        self._path_at: dict[tuple[str, ...], int] = {}
        self._lender_at: dict[str, int] = {}
        self._borrowed_of: dict[int, int] = {-1: 0}

    @property
    def _active(self) -> ActiveJobs:
        return self._stands.active

    def add(self, one: Active, lender: int) -> None:
        if self.made.full or one.job.id in self._named:
            return
        self._named.add(one.job.id)
        level = LEAVING if one.leaving else self._active.levels.level(one.job.id)
        charge = {} if one.leaving or not self._with_charge else one.job.asks
        self.made.found.append(
            Candidate(
                job=one.job.id,
                attempt=one.attempt,
                cluster=one.cluster,
                level=level,
                priority=one.job.priority if not one.leaving else -(2**31),
                lender=lender,
                lost=0 if one.leaving else self._lost(one, lender),
                charge=charge,
                path=self._path(one) if charge else -1,
            )
        )

    def leaving(self) -> Iterator[Active]:
        """Attempts on their way out: what they have is free in a moment, without anybody's loss."""
        return (self._active.entries[name] for name in self._active.leaving)

    def borrowers(self) -> Iterator[tuple[Active, int]]:
        """Who is on what its leaf has borrowed: the leaf most over its min first, in it the lowest priority, then the
        newest."""
        active = self._active
        own = tuple(node.path for node in self._mine.path)
        found = []
        for leaf in active.placed:
            path = self._stands.nodes(active.entries[active.placed[leaf][0][-1]].path)
            nodes = lenders(own, tuple(node.path for node in path))
            below = path[len(path) - len(nodes) :]
            if nodes and path[-1].path == leaf and all(self._over(node) for node in below):
                found.append((-self._borrowed(path[-1]), leaf, below))
        for borrowed, leaf, below in sorted(found, key=lambda one: one[:2]):
            lender = self._lender(below)
            self._borrowed_of[lender] = -borrowed * _ALL // _MILLION
            for _, _, name in islice(active.placed[leaf], MOST_CANDIDATES):
                one = active.entries[name]
                if not one.leaving and not one.fixed and active.levels.level(name) < self._mine.level:
                    yield one, lender

    def _over(self, node: QuotaNode) -> dict[str, int]:
        """By how much the node is over its min, of what may be asked back; only where it is."""
        usage = self._stands.usage
        over = {
            name: usage.get(quota_key(node.path, name), 0) - node.min.get(name, 0) for name in self._mine.reclaimable
        }
        return {name: amount for name, amount in over.items() if amount > 0}

    def _borrowed(self, leaf: QuotaNode) -> int:
        """How much it has borrowed by its weight, in millionths of the whole fleet."""
        whole = self._stands.view.tree
        total = whole.min if whole is not None else {}
        shares = [amount * _MILLION // max(1, total.get(name, amount)) for name, amount in self._over(leaf).items()]
        return max(shares, default=0) // max(1, weight(leaf))

    def _lender(self, below: Sequence[QuotaNode]) -> int:
        """The place of the last of these nodes among the lenders; each names the one above it."""
        above = -1
        for node in below:
            if node.path not in self._lender_at:
                self._lender_at[node.path] = len(self.made.lenders)
                self.made.lenders.append(Lender(node.path, above, self._over(node)))
            above = self._lender_at[node.path]
        return above

    def _path(self, one: Active) -> int:
        if one.path not in self._path_at:
            self._path_at[one.path] = len(self.made.paths)
            self.made.paths.append(one.path)
        return self._path_at[one.path]

    def _lost(self, one: Active, lender: int) -> int:
        whole = self._stands.view.tree
        seconds = (self._stands.now - one.since) // 1_000
        work = seconds * largest_share(one.job.asks, whole.max if whole else {})
        spared = max(0, _ALL - self._borrowed_of[lender])
        return spared * _MOST_WORK + min(work, _MOST_WORK - 1)


def largest_share(asks: Resources, total: Mapping[str, int]) -> int:
    """Of what is asked for in the whole, in millionths; 1 at least, and where the whole is not known."""
    shares = [amount * _MILLION // total[name] for name, amount in asks.items() if total.get(name) and name != MAX_JOBS]
    return max(1, max(shares, default=1))
