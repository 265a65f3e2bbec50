"""Who is being told, and what is on its way to the hub. A part of the memory."""

from msgspec import Struct

from fairway.domain.decision import Call
from fairway.hub.telling.known_bindings import KnownBindings
from fairway.hub.telling.pending_update import PendingUpdate, UpdatePace

# So much later than it might be an owner is told, rather than by another message (ms).
_LATE_MS = 1_000


class Sent(Struct, frozen=True):
    """The calls that were made together, and the ids of the words that they tell."""

    calls: tuple[Call, ...]
    ids: tuple[str, ...] = ()


class Telling:
    """`showing` and `telling` are the uids of objects of which a message is under way that writes their status, or
    tells their owner, and that for when it was meant (ms). `sent` is what was sent for a message, by its id: an answer
    does not repeat them. `looked` is when the messages in hand were looked at (ms): whose turn it was not then, of that
    one no row was read."""

    def __init__(self) -> None:
        self.bindings = KnownBindings()
        self.pace = UpdatePace()
        self.showing: set[str] = set()
        self.telling: dict[str, int] = {}
        self.sent: dict[str, Sent] = {}
        self.looked = 0

    @property
    def waiting(self) -> int:
        """How many objects are to be told of."""
        return len(self.telling)

    def turn(self, line: PendingUpdate, now: int) -> int:
        """When its owner is to be told, as far as that is known now (ms)."""
        return max(line.due, line.slot or now + self.pace.wait(now, self.waiting))

    def late(self, uid: str, due: int) -> bool:
        """Whether no message is under way that tells of it about then, or before."""
        at = self.telling.get(uid)
        return at is None or at > due + _LATE_MS

    def replaced(self, uid: str, at: int) -> bool:
        """Whether another message tells of it, and this one does not any more."""
        return self.telling.get(uid, at) != at
