"""What is to be told on the hub, and when: the newest word of each job, said once it stands still. Pure."""

import heapq

from msgspec import Struct

from fairway.gateway.hub.objects import HubObject
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire.reasons import Reason

# A job on its way to a cluster gets there within a tenth of a second: only what stays so long is worth a write (ms).
PASSING_MS = 1_000
# A pod of a free node is up in well under a second: then one write tells of both.
STARTING_MS = 500
# While many jobs move, words wait longer: moving comes first, and one write tells of more (ms a line, and in all).
STRETCH_MS = 10
LONGEST_MS = 8_000
# What follows at once upon a word that will stay: the status of the hub's object, the end of a short job.
SOON_MS = 100
# A job may be about to get its policy, applied in the same breath; in a burst, policies come in behind their jobs.
UNCLAIMED_MS = 2_000
# To tell of a job is an Event and its binding.
_WRITES = 2
# How old the member's status in the binding of a running job may be.
STATUS_MS = 30_000


class PendingUpdate(Struct):
    """What was heard of one job since it was last told of. `ends` are attempts that ended, of which each is told;
    `first` is when the first of it was heard (0: nothing was), `deliveries` are to be acknowledged."""

    due: int
    first: int = 0
    newest: wire.JobMessage | None = None
    cause: str = ""
    ends: list[tuple[str, wire.JobMessage]] = []
    deliveries: list[Delivery] = []


class Unclaimed(Struct, frozen=True):
    one: HubObject
    why: Reason
    due: int


def patience(message: wire.JobMessage) -> int:
    """How long a word waits for the next one (ms)."""
    if isinstance(message, wire.Placed) or (isinstance(message, wire.Queue) and message.why is None):
        return PASSING_MS
    return STARTING_MS if isinstance(message, wire.Dispatched) else SOON_MS


class PendingUpdates:
    """`gone` are objects that were deleted, `unclaimed` those that no policy selects."""

    def __init__(self) -> None:
        self._lines: dict[str, PendingUpdate] = {}
        self._order: list[tuple[int, str]] = []
        self.gone: dict[str, HubObject] = {}
        self.unclaimed: dict[str, Unclaimed] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def hear(self, one: Delivery, message: wire.JobMessage, now: int) -> None:
        line = self._lines.setdefault(message.job, PendingUpdate(now))
        line.first = line.first or now
        line.deliveries.append(one)
        if isinstance(message, wire.Failed | wire.Lost):
            line.ends.append((one.id, message))
        elif line.newest is not None and line.newest.tenant != message.tenant:
            line.ends.append((one.id, message))  # one of them is none of this job's: both are looked at
        elif line.newest is None or message.rev >= line.newest.rev:
            line.newest = message
            line.cause = one.id
        stretch = 0 if isinstance(message, wire.Rejected) else self._stretch()
        self._at(message.job, line, min(now + patience(message), line.first + PASSING_MS) + stretch)

    def _stretch(self) -> int:
        return min(STRETCH_MS * (len(self._lines) - 1), LONGEST_MS)

    def touch(self, job: str, now: int, after: int = 0) -> None:
        """Looks at the job again, though nothing was said."""
        line = self._lines.get(job)
        if line is None:
            self._at(job, self._lines.setdefault(job, PendingUpdate(0)), now + after)
        elif now + after < line.due:
            self._at(job, line, now + after)

    def again(self, job: str, line: PendingUpdate, now: int) -> None:
        """Puts back what could not be told now; what was heard since is newer."""
        newer = self._lines.setdefault(job, PendingUpdate(now))
        newer.first = line.first or newer.first
        newer.ends = line.ends + newer.ends
        newer.deliveries = line.deliveries + newer.deliveries
        if newer.newest is None:
            newer.newest = line.newest
            newer.cause = line.cause
        self._at(job, newer, now)

    def _at(self, job: str, line: PendingUpdate, due: int) -> None:
        line.due = due
        heapq.heappush(self._order, (due, job))

    def take(self, now: int, most: int) -> dict[str, PendingUpdate]:
        """Lines that are due, the oldest first."""
        taken: dict[str, PendingUpdate] = {}
        while self._order and self._order[0][0] <= now and len(taken) < most:
            due, job = heapq.heappop(self._order)
            line = self._lines.get(job)
            if line is not None and line.due == due:
                taken[job] = self._lines.pop(job)
        return taken

    def take_gone(self) -> list[HubObject]:
        gone = list(self.gone.values())
        self.gone = {}
        return gone

    def take_unclaimed(self, now: int, most: int) -> list[Unclaimed]:
        """They were put in with one patience, so the first is due first."""
        taken: list[Unclaimed] = []
        for uid, one in list(self.unclaimed.items())[:most]:
            if one.due > now:
                break
            taken.append(self.unclaimed.pop(uid))
        return taken

    def lacks(self, one: HubObject, why: Reason, now: int) -> None:
        self.unclaimed[one.uid] = Unclaimed(one, why, now + UNCLAIMED_MS)


class UpdatePace:
    """`a_second` writes a second, and `most` at once after a pause: what the hub may be asked for by its story-teller.
    What waits is told within `within_s` all the same, with more writes if need be. Words that wait are replaced by
    newer ones, so that the cost of a burst is bounded, not its truth."""

    def __init__(self, a_second: int, most: int, within_s: int = 10) -> None:
        self._least = a_second
        self._most = most
        self._within_s = within_s
        self._next = 0

    def wait(self, now: int, waiting: int) -> int:
        """Milliseconds until the next write may be made while so many jobs wait; counts it as made."""
        each = 1_000_000 // max(self._least, waiting * _WRITES // self._within_s)
        at = now * 1_000
        self._next = max(self._next, at - each * self._most) + each
        return max(0, (self._next - at) // 1_000)
