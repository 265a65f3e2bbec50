"""What a memory was given, on its way to the stream VIEWS: kept by reference, written down in pieces, bounded.

Beyond the bound all of it is given up, and what is told next begins with saying so.
"""

from collections import deque
from collections.abc import Iterator

from msgspec import Struct, structs

from fairway.runtime.ports import Outgoing
from fairway.runtime.views.recorded_entries import EntryWriter, Everything, Judged, Kept, One
from fairway.wire import subjects, views
from fairway.wire.reasons import Code, Reason

# What travels as one, before it is compressed; and what NATS takes (1 MiB), with room for the headers.
_PIECE = 256 << 10
_LARGEST = 1_000_000
# About what anything takes beside its data.
_SMALL = 64
_SLOW = Reason(
    Code.VIEW_NOT_STORED,
    "what the service knew could not be stored as fast as it came",
    remedy="see whether NATS is slow, full or away",
)


class _NextPiece(Struct):
    """What it says of itself. It `tells_all` while what is written down is of a whole view."""

    number: int = 1
    at: int = 0
    after: int = 0
    tells_all: bool = False


class PendingViews:
    """Of one process (`instance`) of a service. `most` bytes wait; `gap` says what was given up since they were more,
    until `resume`. So many bytes were `told` since the last whole view."""

    def __init__(self, service: str, instance: str, most: int) -> None:
        self._process = (service, instance)
        self._most = most
        self._waiting: deque[tuple[int, Kept]] = deque()
        self._open: Iterator[views.Entry] = iter(())
        self._writer = EntryWriter()
        self._next = _NextPiece()
        self._bytes = self.told = 0
        self.gap: views.Missing | None = None

    @property
    def rests(self) -> bool:
        """Whether nothing is kept now by choice."""
        return self.gap is not None and self.gap.why.code is Code.VIEW_LEFT_OUT

    def rest(self, why: Reason, now: int, until: int) -> None:
        """What is put from now on is not kept, by choice. That is said at once, for a process may end before it goes
        on, and then with how many decisions were made."""
        self.put(One(now, views.Missing(why, now, until, 0)), 0)
        if self.gap is None:
            self.gap = views.Missing(why, until, until, 0)

    def put(self, one: Kept, size: int) -> None:
        if self.gap is None and self._bytes + size > self._most:
            self.give_up(_SLOW)
        if self.gap is not None:
            self._lose(self.gap, one)
            return
        self._waiting.append((size, one))
        self._bytes += size

    def give_up(self, why: Reason) -> None:
        """Forgets all that waits."""
        lost = [one for _, one in self._waiting]
        since = lost[0].now if lost else self._next.at
        self.gap = views.Missing(why, since, since, 0)
        for one in lost:
            self._lose(self.gap, one)
        self._waiting.clear()
        self._open = iter(())
        self._bytes = 0

    def _lose(self, gap: views.Missing, one: Kept) -> None:
        self._writer.pass_over(one)
        made = sum(bool(each.steps) for _, each in one.made) if isinstance(one, Judged) else 0
        self.gap = structs.replace(gap, until=max(gap.until, one.now), decisions=gap.decisions + made)

    def resume(self, now: int) -> None:
        """What is put from now on is kept again, behind a word on what was given up."""
        gap = self.gap
        self.gap = None
        if gap is not None:
            self.put(One(now, gap), 0)

    def piece(self) -> Outgoing | None:
        """The next that is to be stored; None when nothing waits. A whole view begins a piece."""
        entries: list[views.Entry] = []
        size = 0
        while size < _PIECE:
            entry = next(self._open, None)
            if entry is not None:
                entries.append(entry)
                one = _size(entry)
                size += one
                if not self._next.tells_all:
                    self.told += one
            elif not self._waiting or (entries and isinstance(self._waiting[0][1], Everything)):
                break
            else:
                self._begin()
        return self._packed(entries) if entries else None

    def _begin(self) -> None:
        size, one = self._waiting.popleft()
        self._bytes -= size
        self._open = iter(self._writer.entries(one))
        self._next.at = one.now
        self._next.tells_all = isinstance(one, Everything)
        if self._next.tells_all:
            self._next.after = self._writer.highest
            self.told = 0

    def _packed(self, entries: list[views.Entry]) -> Outgoing | None:
        part = "whole" if isinstance(entries[0], views.Whole) else "more"
        service, instance = self._process
        head = self._next
        piece = views.Piece(instance, head.number, head.at, head.after, views.packed(entries))
        data = views.encode(piece)
        if len(data) > _LARGEST:
            self.give_up(Reason(Code.VIEW_NOT_STORED, f"one row makes a message of {len(data)} bytes"))
            return None
        head.number += 1
        name = f"{instance}-{piece.number}"
        return Outgoing(name, subjects.view(part, service), data, f"fairway.view.{part}", f"/fairway/{service}")


def _size(entry: views.Entry) -> int:
    """About what it is written down as."""
    if isinstance(entry, views.HeardBatch):
        return _SMALL + sum([len(word.data) for word in entry.words])
    data = getattr(entry, "data", None)
    return _SMALL + len(data) if data else _SMALL
