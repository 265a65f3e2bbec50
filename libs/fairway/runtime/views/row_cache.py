"""Rows that this process has met: the value of exactly these bytes, so that nobody here decodes them a second time.

A job's row is read by every stage and written by most; in a process of several stages almost all of what is read was
written or read here a moment ago. The bytes themselves are compared, so that nothing can be stale: a value that is
found is what decoding would give. Values are frozen and shared.
"""

from collections import OrderedDict
from typing import Any, Generic, TypeVar

import msgspec

from fairway.domain import decision
from fairway.domain.job import Job
from fairway.domain.reservations import Hold
from fairway.wire.capacity import Node

_encode = msgspec.json.Encoder().encode
# Encoded bytes kept for each kind of row; decoded they take several times as much. Enough for the jobs under way.
_MOST_BYTES = 8 << 20


T = TypeVar("T")


class Rows(Generic[T]):
    """Values of one kind by table and key, the oldest forgotten first."""

    def __init__(self, kind: type[T], most: int = _MOST_BYTES) -> None:
        self._decode = msgspec.json.Decoder(kind).decode
        self._most = most
        self._bytes = 0
        # A plain dict passes over all that was taken from its front before it finds its first key.
        self._known: OrderedDict[tuple[str, str], tuple[bytes, T]] = OrderedDict()

    def value(self, table: str, key: str, data: bytes) -> T:
        """What these bytes say; raises what the decoder raises."""
        known = self._known.get((table, key))
        if known is not None and known[0] == data:
            return known[1]
        value = self._decode(data)
        self.met(table, key, data, value)
        return value

    def passing(self, data: bytes) -> T:
        """What these bytes say, and not remembered: of a whole table, which would push out all that is known."""
        return self._decode(data)

    def says(self, table: str, key: str, data: bytes, value: object) -> bool:
        """Whether it is known that these bytes say this very value."""
        known = self._known.get((table, key))
        return known is not None and known[1] is value and known[0] == data

    def met(self, table: str, key: str, data: bytes, value: T) -> None:
        """Remembers what the bytes say, in place of what the row said before."""
        old = self._known.pop((table, key), None)
        self._known[table, key] = (data, value)
        self._bytes += len(data) - (len(old[0]) if old else 0)
        while self._bytes > self._most:
            _, (oldest, _) = self._known.popitem(last=False)
            self._bytes -= len(oldest)


JOBS = Rows(Job)
NODES = Rows(Node)
HOLDS = Rows(Hold)
# The kind of a row follows from the name of its table.
_KINDS: dict[str, Rows[Any]] = {decision.JOBS: JOBS, "nodes": NODES, "ledger": HOLDS}


def says(table: str, key: str, data: bytes, value: object) -> bool:
    """Whether a row is what this value is encoded as."""
    rows = _KINDS.get(table.partition("/")[0])
    return (rows is not None and rows.says(table, key, data, value)) or _encode(value) == data


def encoded(table: str, key: str, value: object) -> bytes:
    """A value as its row has it, remembered for those in this process who read it next."""
    data = _encode(value)
    rows = _KINDS.get(table.partition("/")[0])
    if rows is not None:
        rows.met(table, key, data, value)
    return data
