"""Which manifests the record holds, up to the place where it has been read, and for whom. Pure.

It is read as far back as manifests are kept: whoever has ended there has ended long ago, and whoever has not is not
touched. What is deleted is not in it, so that it is as small as what was running then.
"""

from msgspec import Struct, field

from fairway.domain.job import ENDED, MOVES
from fairway.domain.submission import digest_of
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire.jobs import JobMessage
from fairway.wire.spec import ManifestRef, RemovedManifest

# Of so many jobs it is remembered that their end stood before their beginning.
_MOST_OVER = 10_000


class KeptManifest(Struct):
    """A message that brings a manifest: for which job it was said, what stays of it, and which jobs that have not ended
    stand on it."""

    job: str
    tenant: str
    rest: RemovedManifest
    stored_at: int
    used_by: set[str] = field(default_factory=set)


class DueManifests(Struct, frozen=True):
    """What may be removed of a job; `cause` is the message that showed it."""

    job: str
    tenant: str
    cause: str
    manifests: tuple[RemovedManifest, ...]


class _LiveJob(Struct):
    """One that was admitted and has not ended, and the places of its manifests."""

    tenant: str
    places: set[int] = field(default_factory=set)


class KeeperMemory:
    """`handled` is up to where admission had acknowledged what was submitted, by what was said up to here. What has no
    answer may be among the dead letters, and be said again from there for `letters_ms`."""

    def __init__(self, letters_ms: int) -> None:
        self.handled = 0
        self._letters_ms = letters_ms
        self._there: dict[int, KeptManifest] = {}
        self._live: dict[str, _LiveJob] = {}
        self._open: dict[int, None] = {}
        self._over: dict[str, None] = {}
        self._bundle = 0

    def open(self, place: int) -> bool:
        """Whether nobody has answered this one, as far as the record was read."""
        return place in self._open

    def read(self, one: Delivery, message: JobMessage) -> list[DueManifests]:
        """One message, in the order of the record, that was said in its place and counts in its working set; what may
        be removed now."""
        self._bundle = one.sequence if one.behind else self._bundle
        match message:
            case wire.Submitted() | wire.Revise():
                return self._came(one, message, bundled=one.sequence == self._bundle)
            case wire.ManifestsRemoved():
                self.handled = max(self.handled, message.handled)
                return self._unanswered(one)
            case wire.Admitted():
                return self._admitted(one, message)
            case wire.Rejected() if message.job not in self._live:
                self._begins(message, message.manifest)
        return self._ended(one, message) if ends(message) else []

    def _came(self, one: Delivery, message: wire.Manifested, bundled: bool) -> list[DueManifests]:
        if bundled:  # deleting it would delete others: nobody says manifests so
            self._there.pop(one.sequence, None)
            self._open.pop(one.sequence, None)
        elif one.sequence not in self._there:
            self._there[one.sequence] = KeptManifest(message.job, message.tenant, rest_of(one, message), one.stored_at)
            self._open[one.sequence] = None
            if isinstance(message, wire.Revise):
                self._use(one.sequence, message.job)
        return []

    def _use(self, place: int, job: str) -> None:
        """A job that has not ended stands on it, if it is its tenant's."""
        live = self._live.get(job)
        kept = self._there.get(place)
        if live is not None and kept is not None and live.tenant == kept.tenant:
            live.places.add(place)
            kept.used_by.add(job)
            self._open.pop(place, None)

    def _admitted(self, one: Delivery, message: wire.Admitted) -> list[DueManifests]:
        self._begins(message, message.spec.manifest)
        for place in [*self._open]:
            kept = self._there[place]
            if kept.rest.said == wire.Revise.verb and kept.job == message.job:  # said before its job was
                self._use(place, message.job)
        return self._ended(one, message) if self._over.pop(message.job, "") is None else []

    def _begins(self, message: wire.Admitted | wire.Rejected, ref: ManifestRef | None) -> None:
        """It may be said once more, in another working set."""
        self._live.setdefault(message.job, _LiveJob(message.tenant))
        if ref is not None and (kept := self._there.get(ref.sequence)) and kept.rest.id == message.cause:
            self._use(ref.sequence, message.job)

    def _ended(self, one: Delivery, message: JobMessage) -> list[DueManifests]:
        live = self._live.get(message.job)
        if live is None:
            self._over[message.job] = None
            while len(self._over) > _MOST_OVER:
                del self._over[next(iter(self._over))]
            return []
        if live.tenant != message.tenant:
            return []
        del self._live[message.job]
        for place in live.places:
            self._there[place].used_by.discard(message.job)
        return self._due(message.job, one.id, [place for place in live.places if not self._there[place].used_by])

    def _unanswered(self, word: Delivery) -> list[DueManifests]:
        """What admission had handled long ago, and nobody has answered since: it repeated another, was refused once
        more, came after the end of its job, or is a dead letter no more."""
        before = word.stored_at - self._letters_ms
        places = [at for at in self._open if at <= self.handled and self._there[at].stored_at <= before]
        return [one for place in places for one in self._due(self._there[place].job, word.id, [place])]

    def _due(self, job: str, cause: str, places: list[int]) -> list[DueManifests]:
        found = [self._there.pop(place) for place in sorted(places)]
        for place in places:
            self._open.pop(place, None)
        return [DueManifests(job, found[0].tenant, cause, tuple(one.rest for one in found))] if found else []


def rest_of(one: Delivery, message: wire.Manifested) -> RemovedManifest:
    return RemovedManifest(
        sequence=one.sequence,
        id=one.id,
        said=message.verb,
        sha256=digest_of(message),
        size=len(bytes(message.manifest)),
        at=message.at,
        client=message.client,
        source=message.source,
        hub=message.hub,
        who=message.who,
        policies=len(message.policies),
    )


def ends(message: JobMessage) -> bool:
    """Whether this message is the end of its job."""
    _, state = MOVES.get(type(message), ((), None))
    return state in ENDED or bool(getattr(message, "final", False))
