"""Claims, what was evicted for each, and how each ended: an eviction belongs to one claim that was open, and to one
decision of the scheduler that names it."""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, field

from fairway.audit.attempts import Spoken, Violation
from fairway.audit.evictions.history import Moment
from fairway.domain.events import claim_id
from fairway.domain.preemption.outcome import claim_end, in_vain
from fairway.wire import jobs as wire
from fairway.wire.preemption.evictions import Evict, Victim

# How long after its time (ms), with twice the time that news may take, a claim that is still open is nobody's to end.
_OVERDUE_MS = 120_000


class AuditedClaim(Struct):
    """`end` is empty while it is open: else `used`, the code of its reason, or how its job ended. Between the places
    `unsure` its job was placed, and the working set was lost: it may have been used in that."""

    said: wire.Claimed
    begun: Moment
    nominated: wire.Nominated | None = None
    nominated_at: Moment = Moment(0, 0)
    victims: list[Spoken] = field(default_factory=list)
    end: str = ""
    over: Moment | None = None
    unsure: list[tuple[int, int]] = field(default_factory=list)

    @property
    def until(self) -> int:
        return self.nominated.until if self.nominated is not None else self.said.until

    def awaits_victims(self, now: Moment) -> bool:
        """Whether it had no answer then, or somebody was evicted for it later, or leaves anyway, who was cancelled say:
        such a one gives back his quota when he has gone."""
        if self.nominated is None or self.nominated_at.place > now.place:
            return True
        anyway = self.nominated.victims > self.nominated.evicted
        return anyway or any(one.sequence > now.place for one in self.victims)

    def ended(self, end: str, now: Moment) -> None:
        self.end = self.end or end
        self.over = self.over or now


class EvictionFigures(Struct, frozen=True):
    """`claims` by how they ended (`open`: they have not), `evicted` attempts by cause, `wasted` those of claims that
    ended without being used, by how those ended; `most` is how often one job was evicted."""

    claims: dict[str, int] = {}
    evicted: dict[str, int] = {}
    wasted: dict[str, int] = {}
    most: int = 0


class Claims:
    """Takes the events of each job in their order, and decisions of whom to evict whenever they come. Evictions made
    before `decisions_since` (ms; None: all) were decided when nobody kept that."""

    def __init__(self) -> None:
        self.all: list[AuditedClaim] = []
        self.evicted: list[Spoken] = []
        self.decisions_since: int | None = 0
        self._open: dict[str, AuditedClaim] = {}
        self._of_job: dict[str, list[AuditedClaim]] = {}
        self._placed: dict[str, Spoken] = {}
        self._named: dict[tuple[str, str, int], Victim] = {}
        self._newest = 0
        self._wrong: list[Violation] = []

    def decided(self, message: Evict) -> None:
        name = claim_id(message.job, message.attempt, message.claim)
        self._named |= {(name, one.job, one.attempt): one for one in message.victims}

    def named(self, spoken: Spoken) -> Victim | None:
        """What was decided of this attempt, for the claim for which it was evicted."""
        message = spoken.message
        assert isinstance(message, wire.Evicted), "it was evicted"
        return self._named.get((message.claim, message.job, message.attempt))

    def newest(self, job: str) -> AuditedClaim | None:
        """The open one of a job."""
        return self._open.get(job)

    def open_at(self, job: str, now: Moment) -> AuditedClaim | None:
        """The one of a job that had begun by then, the last; once they are judged."""
        return next((one for one in reversed(self._of_job.get(job, ())) if one.begun.place < now.place), None)

    def follow(self, spoken: Spoken) -> None:
        message = spoken.message
        now = Moment(spoken.sequence, message.at)
        self._newest = max(self._newest, message.at)
        if isinstance(message, wire.Evicted):
            self.evicted.append(spoken)
        if isinstance(message, wire.Claimed):
            self._begin(message, spoken, now)
            return
        claim = self._open.get(message.job)
        if claim is None:
            if isinstance(message, wire.Nominated):
                self._breach(spoken, f"room is kept for its claim {message.claim}, which is not open")
            return
        self._may_be_used(claim, spoken)
        if isinstance(message, wire.Nominated):
            claim.nominated = message
            claim.nominated_at = now
        elif end := claim_end(message, claim.said.attempt, claim.nominated.cluster if claim.nominated else ""):
            claim.ended(end, now)
            del self._open[message.job]

    def _may_be_used(self, claim: AuditedClaim, spoken: Spoken) -> None:
        message = spoken.message
        before = self._placed.pop(message.job, None)
        if isinstance(message, wire.Placed):
            self._placed[message.job] = spoken
        elif before is not None and before.message.epoch != message.epoch:
            claim.unsure.append((before.sequence, spoken.sequence))

    def _begin(self, message: wire.Claimed, spoken: Spoken, now: Moment) -> None:
        other = self._open.get(message.job)
        if other is not None:
            self._breach(spoken, f"claim {message.claim} began while claim {other.said.claim} was open")
            other.ended("another one", now)
        self._open[message.job] = AuditedClaim(message, now)
        self.all.append(self._open[message.job])
        self._of_job.setdefault(message.job, []).append(self._open[message.job])

    def _breach(self, spoken: Spoken, text: str) -> None:
        self._wrong.append(Violation(spoken.message.job, spoken.sequence, "claim", text))

    def judged(self, known_ms: int) -> Iterator[Violation]:
        """What is wrong with claims; evictions are given to the claims that they belong to."""
        yield from self._wrong
        by_name: dict[str, list[AuditedClaim]] = {}
        for claim in self.all:
            claim.victims = []
            said = claim.said
            by_name.setdefault(claim_id(said.job, said.attempt, said.claim), []).append(claim)
            last = claim.over.at if claim.over is not None else self._newest
            if last > claim.until + _OVERDUE_MS + 2 * known_ms:
                how = f"ended ({claim.end})" if claim.end else "has not ended"
                text = f"claim {said.claim} {how} {(last - claim.until) // 1000} s after its time"
                yield Violation(said.job, claim.begun.place, "claim", text)
        for spoken in self.evicted:
            message = spoken.message
            assert isinstance(message, wire.Evicted), "it was evicted"
            claim_of = _of(by_name.get(message.claim, []), message.at)
            if claim_of is None:
                yield _wrong(spoken, f"attempt {message.attempt} was evicted for {message.claim}, and nobody claimed")
                continue
            claim_of.victims.append(spoken)
            yield from (_wrong(spoken, text) for text in self._unfounded(claim_of, spoken, known_ms))

    def _unfounded(self, claim: AuditedClaim, spoken: Spoken, known_ms: int) -> Iterator[str]:
        message = spoken.message
        assert isinstance(message, wire.Evicted), "it was evicted"
        what = f"attempt {message.attempt} was evicted for {message.claim}"
        if claim.over is not None and claim.over.at < message.at - known_ms:
            ago = (message.at - claim.over.at) / 1000
            yield f"{what}, which had ended {ago:.0f} s before: {claim.end}"
        if claim.nominated is None:
            yield f"{what}, and no room was kept for that"
        if message.right not in claim.said.causes:
            yield f"{what} by {message.right}, which its job may not"
        since = self.decisions_since
        if since is not None and message.at >= since and self.named(spoken) is None:
            yield f"{what}, and no decision names it"

    def wasted(self) -> list[AuditedClaim]:
        """Those for which somebody was evicted in vain; once they are judged."""
        return [one for one in self.all if one.victims and in_vain(one.end)]

    def figures(self) -> EvictionFigures:
        """Once they are judged."""
        messages = [one.message for one in self.evicted if isinstance(one.message, wire.Evicted)]
        wasted = Counter[str]()
        for claim in self.wasted():
            wasted[claim.end] += len(claim.victims)
        return EvictionFigures(
            claims=dict(sorted(Counter(claim.end or "open" for claim in self.all).items())),
            evicted=dict(sorted(Counter(one.right.value for one in messages).items())),
            wasted=dict(sorted((+wasted).items())),
            most=max(Counter(one.job for one in messages).values(), default=0),
        )


def _of(claims: list[AuditedClaim], at: int) -> AuditedClaim | None:
    """A store that was lost may have had a claim of the same number: the last one that had begun by then."""
    return next((one for one in reversed(claims) if one.begun.at <= at), claims[0] if claims else None)


def _wrong(spoken: Spoken, text: str) -> Violation:
    return Violation(spoken.message.job, spoken.sequence, "claim", text)
