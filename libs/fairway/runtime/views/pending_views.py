"""What a memory was given, on its way to the stream VIEWS: kept by reference, written down in pieces, bounded.

Beyond the bound all of it is given up, and what is told next begins with saying so.
"""

from collections import deque
from collections.abc import Iterator

import msgspec

from fairway.runtime.ports import Outgoing
from fairway.runtime.views.recorded_entries import EntryWriter, Everything, Judged, Kept, One
from fairway.wire import subjects, views
from fairway.wire.reasons import Code, Reason

# What travels as one, before it is compressed; and what NATS takes (1 MiB), with room for the headers.
_PIECE = 256 << 10
_LARGEST = 1_000_000
_SLOW = Reason(
    Code.VIEW_NOT_STORED,
    "what the service knew could not be stored as fast as it came",
    remedy="see whether NATS is slow, full or away",
)


class PendingViews:
    """Of one process (`instance`) of a service. `most` bytes wait; `gap` says what was given up since they were more,
    until `resume`."""

    def __init__(self, service: str, instance: str, most: int) -> None:
        self._process = (service, instance)
        self._most = most
        self._waiting: deque[tuple[int, Kept]] = deque()
        self._open: Iterator[views.Entry] = iter(())
        self._writer = EntryWriter()
        self._bytes = self._number = self._at = self._after = 0
        self.gap: views.Missing | None = None

    def put(self, one: Kept, size: int) -> None:
        if self.gap is None and self._bytes + size > self._most:
            self.give_up(_SLOW)
        if self.gap is not None:
            self.gap = _longer(self.gap, one)
            return
        self._waiting.append((size, one))
        self._bytes += size

    def give_up(self, why: Reason) -> None:
        """Forgets all that waits."""
        lost = [one for _, one in self._waiting]
        since = lost[0].now if lost else self._at
        self.gap = views.Missing(why, since, since, 0)
        for one in lost:
            self.gap = _longer(self.gap, one)
        self._waiting.clear()
        self._open = iter(())
        self._bytes = 0

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
                size += 64 + len(getattr(entry, "data", None) or b"")
            elif not self._waiting or (entries and isinstance(self._waiting[0][1], Everything)):
                break
            else:
                self._begin()
        return self._packed(entries) if entries else None

    def _begin(self) -> None:
        size, one = self._waiting.popleft()
        self._bytes -= size
        self._open = self._writer.entries(one)
        self._at = one.now
        if isinstance(one, Everything):
            self._after = one.after

    def _packed(self, entries: list[views.Entry]) -> Outgoing | None:
        part = "whole" if isinstance(entries[0], views.Whole) else "more"
        service, instance = self._process
        piece = views.Piece(instance, self._number + 1, self._at, self._after, views.packed(entries))
        data = views.encode(piece)
        if len(data) > _LARGEST:
            self.give_up(Reason(Code.VIEW_NOT_STORED, f"one row makes a message of {len(data)} bytes"))
            return None
        self._number += 1
        name = f"{instance}-{self._number}"
        return Outgoing(name, subjects.view(part, service), data, f"fairway.view.{part}", f"/fairway/{service}")


def _longer(gap: views.Missing, one: Kept) -> views.Missing:
    made = sum(each is not None and bool(each.steps) for each in one.made) if isinstance(one, Judged) else 0
    return msgspec.structs.replace(gap, until=max(gap.until, one.now), decisions=gap.decisions + made)
