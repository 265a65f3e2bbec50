"""What a view was fed, on its way to the stream VIEWS: kept by reference, written down in pieces, bounded.

Beyond the bound all of it is given up, and what is told next begins with saying so.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.decision import Heard
from fairway.domain.job import Job
from fairway.runtime.ports import Outgoing, ReadRows, Row
from fairway.wire import subjects, views
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.reasons import Code, Reason

# What travels as one, before it is compressed; and what NATS takes (1 MiB), with room for the headers.
_PIECE = 256 << 10
_LARGEST = 1_000_000
_encode = msgspec.json.Encoder().encode
_SLOW = Reason(
    Code.VIEW_NOT_STORED,
    "what the scheduler saw could not be stored as fast as it was seen",
    remedy="see whether NATS is slow, full or away",
)


class Everything(Struct, frozen=True):
    """All that a view holds. `after` is the highest place in JOBS that had been heard of."""

    now: int
    born: int
    after: int
    assumed: list[Job]
    clusters: list[tuple[ClusterInfo, list[Node]]]

    def entries(self) -> Iterator[views.Entry]:
        yield views.Whole(self.now, self.born)
        for job in self.assumed:
            yield views.Assumed(_encode(job))
        for info, nodes in self.clusters:
            yield views.ViewRow(decision.CLUSTERS, info.name, 0, _encode(info))
            for node in nodes:
                yield views.ViewRow(decision.nodes(info.name), node.name, 0, _encode(node))


class Fed(Struct, frozen=True):
    """What a view was refreshed with: the rows of jobs in `found`, and other rows that changed."""

    now: int
    found: ReadRows
    changes: Sequence[tuple[str, str, Row | None]]
    freed: Mapping[str, int] | None
    heard: Sequence[Heard[object]]

    def entries(self) -> Iterator[views.Entry]:
        rows = ((table, key, row) for (table, key), row in self.found.rows.items())
        for source in (rows, self.changes):
            for table, key, row in source:
                yield views.ViewRow(table, key, row.rev if row else 0, row.data if row else None)
        words = tuple(views.Word(one.id, one.sequence, one.delivered, _encode(one.message)) for one in self.heard)
        yield views.Look(self.now, self.found.version, dict(self.freed) if self.freed is not None else None, words)


class One(Struct, frozen=True):
    """Anything small."""

    now: int
    entry: views.Entry

    def entries(self) -> Iterator[views.Entry]:
        yield self.entry


Kept = Everything | Fed | One


class PendingViews:
    """Of one process (`instance`) of a service. `most` bytes wait; `gap` says what was given up since they were more,
    until `resume`."""

    def __init__(self, service: str, instance: str, most: int) -> None:
        self._service = service
        self._instance = instance
        self._most = most
        self._waiting: deque[tuple[int, Kept]] = deque()
        self._open: Iterator[views.Entry] = iter(())
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
        self._open = one.entries()
        self._at = one.now
        if isinstance(one, Everything):
            self._after = one.after

    def _packed(self, entries: list[views.Entry]) -> Outgoing | None:
        part = "whole" if isinstance(entries[0], views.Whole) else "more"
        piece = views.Piece(self._instance, self._number + 1, self._at, self._after, views.packed(entries))
        data = views.encode(piece)
        if len(data) > _LARGEST:
            self.give_up(Reason(Code.VIEW_NOT_STORED, f"one row of the view makes a message of {len(data)} bytes"))
            return None
        self._number += 1
        name = f"{self._instance}-{self._number}"
        subject = subjects.view(part, self._service)
        source = f"/fairway/{self._service}"
        return Outgoing(name, subject, data, f"fairway.view.{part}", source)


def _longer(gap: views.Missing, one: Kept) -> views.Missing:
    made = isinstance(one, One) and isinstance(one.entry, views.Decided) and bool(one.entry.revs)
    return msgspec.structs.replace(gap, until=max(gap.until, one.now), decisions=gap.decisions + made)
