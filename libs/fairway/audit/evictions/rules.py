"""The rules of evictions together: each event of a job is read once, and judged when all that bears on it is known."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import attrgetter

from fairway.audit.attempts import Spoken, Violation
from fairway.audit.evictions.claims import AuditedClaim, Claims, EvictionFigures
from fairway.audit.evictions.cycles import circles
from fairway.audit.evictions.gates import Gates
from fairway.audit.evictions.history import ActiveHistory, Moment, Span, TreeHistory, UsageHistory
from fairway.audit.evictions.kept_room import KeptPromise, KeptRoom
from fairway.audit.evictions.precedence import EvictedAttempt, Precedence
from fairway.audit.evictions.standing import AuditedStanding
from fairway.audit.evictions.victims import Victims
from fairway.audit.job_history import JobHistory
from fairway.audit.promises import Promise
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources
from fairway.wire import jobs as wire
from fairway.wire.preemption.evictions import Evict

_place = attrgetter("sequence")


class EvictionRules:
    """`known_ms` is how long news may be on its way to those who decide."""

    def __init__(self, tree: QuotaNode | None, known_ms: int) -> None:
        self._known_ms = known_ms
        self.trees = TreeHistory(tree, known_ms)
        self.claims = Claims()
        self.kept = KeptRoom(self.claims, known_ms)
        self._active = ActiveHistory(known_ms)
        self._usage = UsageHistory(known_ms)
        self._gates = Gates(self.claims, self._active, self._usage, self.trees)
        self._victims = Victims()
        self._standing: dict[str, AuditedStanding] = {}
        self._charges: dict[tuple[str, int], tuple[tuple[str, ...], Resources]] = {}

    def decided(self, message: Evict) -> None:
        """Decisions of whom to evict, in whatever order."""
        self.claims.decided(message)

    def follow(self, life: JobHistory, spoken: Spoken) -> None:
        """After `life` has read the message. Events of one job come in their order."""
        message = spoken.message
        now = Moment(spoken.sequence, message.at)
        standing = self._standing.setdefault(life.job, AuditedStanding(life.job))
        self._victims.follow(standing, spoken)
        if isinstance(message, wire.Evicted):
            self._charges[message.job, message.attempt] = (standing.path, standing.charge or {})
        before = (standing.path, standing.charge)
        standing.follow(message)
        self.claims.follow(spoken)
        self._active.put(life.job, now, standing.active, isinstance(message, wire.Queue))
        self._charged(standing, before, now)
        self._claimed(standing, spoken, now)
        self._keep(life, spoken)
        if isinstance(message, wire.Dequeued):
            fixed = standing.spec is not None and not standing.spec.evictable
            self._gates.passed.append((spoken, fixed))

    def _charged(
        self, standing: AuditedStanding, before: tuple[tuple[str, ...], Resources | None], now: Moment
    ) -> None:
        path, charge = before
        if charge is standing.charge:
            return
        if charge is not None:
            self._usage.add(now, path, charge, -1)
            self._gates.fixed.over(standing.job, now)
        if standing.charge is not None:
            self._usage.add(now, standing.path, standing.charge, 1)
            if standing.spec is not None and not standing.spec.evictable:
                self._gates.fixed.begin(Span(standing.job, standing.path, standing.charge, now))

    def _claimed(self, standing: AuditedStanding, spoken: Spoken, now: Moment) -> None:
        """What a claim keeps for its job while it waits; once it is let go, it is charged instead. That it came back is
        said by who sent it."""
        waits = standing.waits and self.claims.newest(standing.job) is not None
        active = standing.active
        if not waits:
            self._gates.claims.over(standing.job, now)
        elif active is not None:
            heard_at = now.at + self._known_ms if isinstance(spoken.message, wire.Queue) else 0
            self._gates.claims.begin(Span(standing.job, standing.path, active.asks, now, heard_at=heard_at))

    def _keep(self, life: JobHistory, spoken: Spoken) -> None:
        message = spoken.message
        now = Moment(spoken.sequence, message.at)
        if isinstance(message, wire.Recall):
            self.kept.recalled.setdefault(f"{message.job}/{message.attempt}", now)
        if isinstance(message, wire.Removed):
            self.kept.removed.setdefault(f"{message.job}/{message.attempt}", spoken.sequence)
        if isinstance(message, wire.Nominated) and (claim := self.claims.newest(life.job)) is not None:
            promise = Promise(message.cluster, message.slots, life.asked.requests, life.tenant)
            self.kept.kept.append(KeptPromise(claim, promise, now, message.victims))

    def breaches(self, ends_of: dict[str, str]) -> Iterator[Violation]:
        """`ends_of` has the jobs that have ended."""
        self._usage.begin()
        yield from self.claims.judged(self._known_ms)
        yield from self._victims.judged(self.trees, ends_of)
        self._active.begin()
        precedence = Precedence(self._active, self._usage, self.trees)
        self.claims.evicted.sort(key=_place)
        for claim in sorted(self.claims.all, key=lambda one: one.begun.place):
            yield from precedence.judged(claim, self._victims_of(claim))
        self._active.begin()
        yield from self._gates.judged()
        yield from circles(self.claims.all, self._active.arrivals_and_ends(), self.trees)

    def _victims_of(self, claim: AuditedClaim) -> list[EvictedAttempt]:
        """With what those gave back before each that were evicted since the claim began, for whatever claim."""
        found = []
        given: dict[tuple[str, str], int] = {}
        evicted = self.claims.evicted
        # Not by their places: one message of the bus has what was said at once, for whatever claims.
        own = {(one.message.job, one.message.attempt) for one in claim.victims}
        last = max((one.sequence for one in claim.victims), default=0)
        first = bisect_left(evicted, claim.begun.place, key=_place)
        for spoken in evicted[first : bisect_right(evicted, last, key=_place)]:
            path, charge = self._charges[spoken.message.job, spoken.message.attempt]
            if (spoken.message.job, spoken.message.attempt) in own:
                found.append(EvictedAttempt(spoken, path, charge, dict(given)))
            for node in path:
                for name, amount in charge.items():
                    given[node, name] = given.get((node, name), 0) + amount
        return found

    def figures(self) -> EvictionFigures:
        """Once it was judged."""
        return self.claims.figures()
