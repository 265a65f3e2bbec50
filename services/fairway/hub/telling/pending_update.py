"""What the owner of an object is to be told, and when: the newest word of its job, once it stands still. Pure."""

from msgspec import Struct, field

from fairway.wire import jobs as wire

# A job on its way to a cluster gets there within a tenth of a second: only what stays so long is worth a write (ms).
PASSING_MS = 1_000
# A pod of a free node is up in well under a second: then one write tells of both.
STARTING_MS = 500
# While many jobs move, words wait longer: moving comes first, and one write tells of more (ms an object, and in all).
STRETCH_MS = 20
LONGEST_MS = 8_000
# What follows at once upon a word that will stay: the status of the hub's object, the end of a short job.
SOON_MS = 100
# A job may be about to get its policy, applied in the same breath; in a burst, policies come in behind their jobs.
UNCLAIMED_MS = 2_000
# To tell of a job is an Event and its binding.
_WRITES = 2
# How old the member's status in the binding of a running job may be.
STATUS_MS = 30_000
# A write costs the hub and this process some 4 ms of a core: telling takes less than half of one, while jobs move.
A_SECOND = 100
BURST = 50
_ENDS = (wire.Failed, wire.Lost, wire.Nominated, wire.Unclaimed, wire.Unchanged)


class HeardWord(Struct, frozen=True):
    """A message of the job by its id."""

    id: str
    message: wire.Message


class ToldUpdate(Struct):
    """What was told of an attempt of a job. A reason for waiting that comes back is not told again."""

    job: str = ""
    attempt: int = 0
    reasons: set[str] = field(default_factory=set)
    last: str = ""
    ended: bool = False


class PendingUpdate(Struct):
    """What was heard of the job since its owner was last told. `ends` are words of which each is told; `first` is when
    the first of it was heard, `due` when it is to be told (ms; 0: there is nothing), `slot` when it may be, after those
    that were due before (0: it has not asked yet). `ids` are to be acknowledged then, and `over` are those that were
    told by now."""

    due: int = 0
    slot: int = 0
    first: int = 0
    newest: HeardWord | None = None
    ends: list[HeardWord] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    over: list[str] = field(default_factory=list)


def patience(message: wire.JobMessage) -> int:
    """How long a word waits for the next one (ms)."""
    if isinstance(message, wire.Placed) or (isinstance(message, wire.Queue) and message.why is None):
        return PASSING_MS
    return STARTING_MS if isinstance(message, wire.Dispatched) else SOON_MS


def hear(line: PendingUpdate, word: HeardWord, now: int, others: int) -> None:
    """Takes a word in, while so many other objects wait to be told of."""
    message = word.message
    line.ids.append(word.id)
    line.first = line.first or now
    if isinstance(message, _ENDS):
        line.ends.append(word)
    elif line.newest is None or message.rev >= line.newest.message.rev:
        line.newest = word
    stretch = 0 if isinstance(message, wire.Rejected) else min(STRETCH_MS * others, LONGEST_MS)
    line.due = min(now + patience(message), line.first + PASSING_MS) + stretch


def touch(line: PendingUpdate, due: int) -> None:
    """Looks at the job by then, though nothing was said."""
    line.due = min(line.due, due) if line.due else due


def take(line: PendingUpdate) -> tuple[HeardWord, ...]:
    """All words in the order in which they were said."""
    words = [*line.ends, *([line.newest] if line.newest else [])]
    return tuple(sorted(words, key=lambda one: one.message.rev))


def kept(line: PendingUpdate) -> bool:
    """Whether any word is still to be acknowledged."""
    return bool(line.ids or line.over)


def told(line: PendingUpdate, ids: tuple[str, ...]) -> None:
    """These words were told; what came meanwhile stays."""
    line.over += [one for one in line.ids if one in ids]
    line.ids = [one for one in line.ids if one not in ids]
    line.ends = [one for one in line.ends if one.id not in ids]
    if line.newest is not None and line.newest.id in ids:
        line.newest = None
    if not line.ids:
        line.first = 0


class UpdatePace:
    """`a_second` writes a second, and `most` at once after a pause: what the hub may be asked for by its story-teller.
    What waits is told within `within_s` all the same, with more writes if need be. Words that wait are replaced by
    newer ones, so that the cost of a burst is bounded, not its truth. `used` is until when it is used up (µs)."""

    def __init__(self, a_second: int = A_SECOND, most: int = BURST, within_s: int = 10) -> None:
        self._least = a_second
        self._most = most
        self._within_s = within_s
        self.used = 0

    def wait(self, now: int, waiting: int) -> int:
        """Milliseconds until the next write may be made while so many objects wait."""
        return max(0, (self._next(now, waiting) - now * 1_000) // 1_000)

    def use(self, now: int, waiting: int) -> None:
        """A write is made."""
        self.used = self._next(now, waiting)

    def book(self, now: int, waiting: int) -> None:
        """The writes that tell of one object are made when it is its turn."""
        for _ in range(_WRITES):
            self.use(now, waiting)

    def _next(self, now: int, waiting: int) -> int:
        each = 1_000_000 // max(self._least, waiting * _WRITES // self._within_s)
        return max(self.used, now * 1_000 - each * self._most) + each
