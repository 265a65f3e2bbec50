"""One job as an auditor sees it: which attempt is open, how it ended, and what may not have been said."""

from collections.abc import Iterator

from msgspec import Struct

from fairway.domain.resources import Resources
from fairway.wire import jobs as wire
from fairway.wire.jobs import JobMessage
from fairway.wire.policy import Placement


class Spoken(Struct, frozen=True):
    """A message of the record: its place, its id, the subject it was said on."""

    sequence: int
    id: str
    subject: str
    message: JobMessage


class Violation(Struct, frozen=True):
    """`rule` names what was broken in a word; `sequence` is the message that broke it (0: its absence did)."""

    job: str
    sequence: int
    rule: str
    text: str


class Open(Struct):
    """An authorised attempt: from `reserved` until nothing of it is left."""

    number: int
    cluster: str
    dispatched: bool = False


class JobHistory:
    """What was said of one job. Services publish after they commit, so a later event can be stored before an earlier
    one: events are read in the order of their revs, and `early` counts those that had to wait for it."""

    def __init__(self, job: str, tenant: str) -> None:
        self.job, self.tenant = job, tenant
        self.rev = self.early = self.attempt = self.reservations = 0
        self.accepted = self.charged = self._over = False
        self.end, self.last, self.reason = "", "", ""
        self.open: Open | None = None
        self.requests: dict[str, Resources] = {}
        self.asks: Resources = {}
        self._gang = 0
        self._placement = Placement()
        self._repeated: list[Spoken] = []
        self._waiting: dict[int, Spoken] = {}
        self._ids: dict[int, str] = {}

    def in_order(self, spoken: Spoken) -> Iterator[Spoken]:
        """The messages that can be read now: this one and those that waited for it, or none yet."""
        rev = spoken.message.rev
        if rev <= self.rev or rev in self._waiting:
            # The very same message once more is a repetition: the bus knows an id again for minutes only.
            if self._ids.get(rev, "") != spoken.id:
                self._repeated.append(spoken)
            return
        self._ids[rev] = spoken.id
        self._waiting[rev] = spoken
        self.early += rev != self.rev + 1
        while (ready := self._waiting.pop(self.rev + 1, None)) is not None:
            self.rev += 1
            yield ready

    def settle(self) -> Iterator[Spoken]:
        """A new working set was made of what had been said: what waits for an event that came too late is taken as it
        is."""
        for rev in sorted(self._waiting):
            if rev > self.rev + 1 and self.open is not None:
                # The word that is missing may have been of its dispatch; of an attempt that is over, of its removal.
                self.open.dispatched = True
                self.open = self.open if self.open.number == self.attempt else None
            self.rev = rev
            yield self._waiting.pop(rev)

    def read(self, spoken: Spoken) -> list[Violation]:
        """The breaches of one message, which becomes part of the life."""
        message = spoken.message
        found = [*self._after_end(message), *self._numbers(message), *self._places(message)]
        self._take(message)
        return [Violation(self.job, spoken.sequence, rule, text) for rule, text in found]

    def _after_end(self, message: JobMessage) -> Iterator[tuple[str, str]]:
        if not self.end or isinstance(message, wire.Recall | wire.Removed):
            return
        what = f"it had {self.end} and was then {message.verb}" if ends(message) else f"{message.verb} after its end"
        yield "end", what

    def _numbers(self, message: JobMessage) -> Iterator[tuple[str, str]]:
        number = message.attempt
        if isinstance(message, wire.Recall | wire.Removed | wire.Rejected | wire.Cancelled):
            if number > self.attempt and self.attempt:
                yield "attempt", f"{message.verb} of attempt {number}, but there were only {self.attempt}"
        elif isinstance(message, wire.Queue) and self._over:
            if number != self.attempt + 1:
                yield "attempt", f"attempt {number} follows attempt {self.attempt}"
        elif number != (self.attempt or 1):
            yield "attempt", f"{message.verb} of attempt {number} while attempt {self.attempt or 1} is the present one"

    def _places(self, message: JobMessage) -> Iterator[tuple[str, str]]:
        here = self.open
        if isinstance(message, wire.Amended) and self.charged:
            yield "policy", f"its policy was changed while attempt {message.attempt} was on its way or running"
        if isinstance(message, wire.Placed) and not self._allowed(message.cluster):
            yield "policy", f"attempt {message.attempt} was placed in {message.cluster}, which its policy rules out"
        if isinstance(message, wire.Reserved):
            if here is not None:
                former = f"attempt {here.number} in {here.cluster}"
                yield "one attempt", f"attempt {message.attempt} was reserved while {former} was not gone"
            if not self.charged:
                yield "quota", f"attempt {message.attempt} was reserved without a charge"
            pods = sum(slot.count for slot in message.slots)
            if pods < self._gang:
                yield "gang", f"{pods} pods were reserved of a gang of {self._gang}"
        elif isinstance(message, wire.Dispatched):
            if here is None or (here.number, here.cluster) != (message.attempt, message.cluster):
                where = f"attempt {here.number} is in {here.cluster}" if here else "nothing is reserved"
                yield "place", f"attempt {message.attempt} was dispatched to {message.cluster}, but {where}"
        elif isinstance(message, wire.Running | wire.Succeeded):
            known = here is not None and here.dispatched and not self._over
            if not known or here is None or (here.number, here.cluster) != (message.attempt, message.cluster):
                what = f"attempt {message.attempt} {message.verb} in {message.cluster}"
                yield "place", f"{what}, where it was not dispatched"

    def _allowed(self, cluster: str) -> bool:
        """By the names in its policy; what labels a cluster had, the record does not say."""
        return any(
            cluster not in one.exclude and (not one.cluster_names or cluster in one.cluster_names)
            for one in self._placement.affinities
        )

    def _take(self, message: JobMessage) -> None:
        self.last = message.verb
        match message:
            case wire.Admitted():
                work = message.spec.workload
                self.accepted, self._gang = True, work.gang_minimum
                self.requests = {pods.name: {**pods.requests, "pods": 1} for pods in work.pod_sets}
                for pods in work.pod_sets:
                    for name, amount in pods.requests.items():
                        self.asks[name] = self.asks.get(name, 0) + amount * pods.count
                self._placement = message.spec.placement
            case wire.Amended():
                self._placement = message.spec.placement
            case wire.Queue():
                self.charged = self._over = False
                self.reason = message.why.text if message.why else ""
            case wire.Blocked():
                self.reason = message.why.text
            case wire.Dequeued():
                self.charged, self.reason = True, ""
            case wire.Reserved():
                self.open = Open(message.attempt, message.cluster)
                self.reservations += 1
            case wire.Dispatched() if self.open is not None:
                self.open.dispatched = True
            case wire.Failed() | wire.Lost():
                self._over = True
        if not isinstance(message, wire.Recall | wire.Removed):
            self.attempt = max(self.attempt, message.attempt)
        if closes(message, self.open):
            self.open = None
        if ends(message):
            self.end = self.end or ("failed" if isinstance(message, wire.Lost) else message.verb)
            self.charged = False

    def left(self) -> Iterator[Violation]:
        """What only the end of the record shows."""
        for spoken in self._repeated:
            text = f"rev {spoken.message.rev} was said twice, the second time as {spoken.message.verb}"
            yield Violation(self.job, spoken.sequence, "rev", text)
        if self._waiting:
            first = min(self._waiting)
            text = f"rev {self.rev + 1} is missing; the record goes on with rev {first}"
            yield Violation(self.job, self._waiting[first].sequence, "rev", text)
        if self.accepted and not self.end and self.open is None and not self.reason:
            text = f"no end and no reason for waiting; the last word on it is {self.last}"
            yield Violation(self.job, 0, "reason", text)


def ends(message: JobMessage) -> bool:
    """Whether this message is the end of its job."""
    end = isinstance(message, wire.Rejected | wire.Succeeded | wire.Cancelled)
    return end or bool(getattr(message, "final", False))


def closes(message: JobMessage, here: Open | None) -> bool:
    """Whether nothing is left to run of the open attempt after this message."""
    removed = isinstance(message, wire.Removed) and here is not None and message.attempt == here.number
    return removed or ends(message)
