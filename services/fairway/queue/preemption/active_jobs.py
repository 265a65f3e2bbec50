"""Every active job by its leaf: who waits, who is charged, and within whose guaranteed share each is.

Made from rows alone, like the waiting jobs: a job is put as its row says.
"""

from collections.abc import Container, Iterable, Iterator

import msgspec
from msgspec import Struct, field
from sortedcontainers import SortedList

from fairway.domain.job import STARTED, Job, State
from fairway.domain.preemption.claim import Claim
from fairway.domain.preemption.levels import ActiveJob
from fairway.domain.preemption.open_claim import kept_key
from fairway.domain.quota.charge import quota_key, request
from fairway.domain.resources import Resources
from fairway.queue.preemption.kept_levels import KeptLevels, Place, add_to, take_from
from fairway.queue.preemption.leaving import HeardLeaving, Leaving
from fairway.queue.waiting.waiting_job import hopeless
from fairway.runtime.service import Remembered
from fairway.wire.reasons import Code

# Where an attempt can be ended: it has its room, and nobody has asked for it back.
_EVICTABLE = (State.RESERVED, *STARTED)
_EVICTED = (Code.RECLAIMED, Code.PREEMPTED)


class Active(Struct, frozen=True):
    """An active job as evictions see it: its leaf's `path`, and of its attempt where it is (`cluster`, empty: nowhere
    yet) and since when. `fixed`: it is never evicted; `leaving`: this attempt is on its way out, `since` then.
    `evicted` is how often it had to go for higher priority, `evictions` how often in all; `claim` is open. What leaves
    goes for the claim `leaves_for`, by its id, if for any."""

    job: ActiveJob
    path: tuple[str, ...]
    waits: bool
    fixed: bool = False
    cluster: str = ""
    attempt: int = 0
    since: int = 0
    leaving: bool = False
    evicted: int = 0
    claim: Claim | None = None
    evictions: int = 0
    leaves_for: str = ""

    @property
    def nominated(self) -> bool:
        """Whether room is kept for it."""
        return self.claim is not None and bool(self.claim.cluster)

    @property
    def gave_back(self) -> bool:
        """Whether what leaves has given back its quota already."""
        return self.leaving and self.waits


def active_of(job: Job, known: Resources | None = None) -> Active | None:
    """`known` is what a waiting job asks for, where it was worked out. None: it is none of the active, waiting or
    charged; who is held or never fits anywhere has no level."""
    found = _active_of(job, known)
    often = sum([one.why is not None and one.why.code in _EVICTED for one in job.attempts]) if job.attempts else 0
    return msgspec.structs.replace(found, evictions=often) if found is not None and often else found


def _active_of(job: Job, known: Resources | None) -> Active | None:
    if job.spec is None or job.ended or job.state is State.ADMITTED:
        return None
    waits = job.state is State.QUEUED
    if waits and (job.held or job.cancelling or hopeless(job)):
        return None
    leaf = job.leaf[-1] if job.leaf else ""
    asks = (known or request(job.spec.workload)) if waits else job.charge
    found = ActiveJob(job.id, leaf, job.spec.priority, job.enqueued_at, asks)
    fixed = not job.spec.evictable
    if waits:
        # An attempt that is being removed still has its room.
        leaving = job.attempts[-1] if job.removing and job.attempts else None
        if leaving is None or (leaving.cluster, leaving.number) != (job.removing, job.recalled):
            return Active(found, job.leaf, waits, fixed, claim=job.open_claim)
        place = (leaving.cluster, leaving.number, leaving.ended_at)
        claim = job.open_claim
        return Active(found, job.leaf, waits, fixed, *place, leaving=True, claim=claim, leaves_for=leaving.claim)
    if job.attempts and (job.removing, job.recalled) == (job.cluster, job.attempt):
        # Cancelled, say: it still has its room, and its quota, and needs no victim to give them back.
        return Active(found, job.leaf, waits, fixed, job.cluster, job.attempt, job.at, leaving=True)
    if job.state not in _EVICTABLE or job.removing or job.cancelling or job.held or not job.attempts:
        return Active(found, job.leaf, waits, fixed)
    evicted = sum(one.why is not None and one.why.code is Code.PREEMPTED for one in job.attempts)
    newest = job.attempts[-1]
    return Active(found, job.leaf, waits, fixed, job.cluster, job.attempt, newest.started_at, evicted=evicted)


class ActiveCharges(Struct):
    """By quota key: what jobs use that are never evicted (`fixed`), and what open claims keep (`claimed`). `priorities`
    are those of jobs with open claims, and how many have each."""

    fixed: dict[str, int] = field(default_factory=dict)
    claimed: dict[str, int] = field(default_factory=dict)
    priorities: dict[int, int] = field(default_factory=dict)

    @property
    def least_priority(self) -> int | None:
        """Of jobs with open claims; None: there is none."""
        return min(self.priorities, default=None)

    def count(self, one: Active, sign: int) -> None:
        if one.claim is not None:
            priority = one.job.priority
            self.priorities[priority] = self.priorities.get(priority, 0) + sign
            if not self.priorities[priority]:
                del self.priorities[priority]
        for kept, counts in ((self.fixed, one.fixed and not one.waits), (self.claimed, one.claim is not None)):
            for key, amount in keys_of(one) if counts else ():
                kept[key] = kept.get(key, 0) + sign * amount


def keys_of(one: Active) -> Iterator[tuple[str, int]]:
    """What the job takes of the quota, by quota key."""
    for node in one.path:
        for resource, amount in one.job.asks.items():
            yield quota_key(node, resource), amount


class ActiveJobs:
    """By leaf: who has an attempt in a cluster (`placed`: the lowest priority first, of one the newest), and who waits
    (`waiting`). `claims` are jobs whose claim is open, `ready` those for which kept room is free, by the key of the
    ledger that keeps it. `evictions` are those of jobs that were ever evicted, `until` is when open claims end, also of
    jobs that are held or never fit."""

    def __init__(self) -> None:
        self.entries: dict[str, Active] = {}
        self.levels = KeptLevels()
        self.placed: dict[str, SortedList[Place]] = {}
        self.waiting: dict[str, SortedList[Place]] = {}
        self.claims: dict[str, None] = {}
        self.ready: dict[str, str] = {}
        self.leaving = Leaving()
        self.charges = ActiveCharges()
        self.evictions: dict[str, int] = {}
        self.until: dict[str, int] = {}

    def put(self, job: Job, asks: Resources | None = None) -> None:
        """`asks` is what a waiting job asks for, where it is known. What of it stays as it was, as nearly always while
        it goes its way, is not worked out anew."""
        now = active_of(job, asks)
        old = self.entries.get(job.id)
        claim = job.open_claim if job.state is State.QUEUED else None
        if claim is not None:
            self.until[job.id] = claim.until
        elif self.until:
            self.until.pop(job.id, None)
        if self.ready.get(job.id, "") not in ("", kept_key(job)):
            del self.ready[job.id]
        if old == now:
            return
        same = old is not None and now is not None and old.job == now.job and old.path == now.path
        if old is not None:
            self._leave(old, same)
        if now is not None:
            self._enter(now, same)

    def remembered(self, waiting: Container[str]) -> Iterator[Remembered]:
        """Whatever does not come from the rows of those that are `waiting`."""
        yield from (Remembered("active", name, one) for name, one in self.entries.items() if name not in waiting)
        yield from (Remembered("ready", name, key) for name, key in self.ready.items())
        yield from (Remembered("left for", claim, heard) for claim, heard in self.leaving.heard.items())

    def recall(self, table: str, name: str, data: bytes) -> None:
        """A part of what was remembered."""
        match table:
            case "ready":
                self.ready[name] = msgspec.json.decode(data) or ""  # a version before this one kept no key
            case "left for":
                self.leaving.heard[name] = msgspec.json.decode(data, type=HeardLeaving)
            case _:
                self.keep(msgspec.json.decode(data, type=Active))

    def freed(self, job: Job, cluster: str) -> None:
        """Nobody has anything any more of what is kept there for its claim, if that is where it is kept."""
        if job.open_claim is not None and job.open_claim.cluster == cluster:
            self.ready[job.id] = kept_key(job)

    def keep(self, now: Active) -> None:
        self._enter(now, same=False)

    def _enter(self, now: Active, same: bool) -> None:
        name = now.job.id
        self.entries[name] = now
        if not same:
            self.levels.add(now.job, now.path)
        if now.waits:
            add_to(self.waiting, now.job.leaf, now.job.place)
        if now.cluster:
            add_to(self.placed, now.job.leaf, _going(now))
        if now.leaving:
            self.leaving.add(name, now.attempt, now.leaves_for, keys_of(now))
        if now.claim is not None:
            self.claims[name] = None
        if now.evictions:
            self.evictions[name] = now.evictions
        self.charges.count(now, 1)

    def drop(self, name: str) -> None:
        self.until.pop(name, None)
        self.ready.pop(name, None)
        if (old := self.entries.get(name)) is not None:
            self._leave(old, same=False)

    def _leave(self, old: Active, same: bool) -> None:
        name = old.job.id
        del self.entries[name]
        if not same:
            self.levels.remove(old.job, old.path)
        if old.waits:
            take_from(self.waiting, old.job.leaf, old.job.place)
        if old.cluster:
            take_from(self.placed, old.job.leaf, _going(old))
        self.evictions.pop(name, None)
        self.leaving.jobs.pop(name, None)
        self.claims.pop(name, None)
        self.charges.count(old, -1)

    def charged(self, names: Iterable[str]) -> dict[str, int]:
        """What the open claims of these jobs keep of the quota, by quota key."""
        found: dict[str, int] = {}
        for name in names:
            for key, amount in keys_of(self.entries[name]):
                found[key] = found.get(key, 0) + amount
        return found


def _going(one: Active) -> Place:
    return (one.job.priority, -one.since, one.job.id)
