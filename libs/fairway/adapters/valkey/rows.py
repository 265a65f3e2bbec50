"""What the store's scripts are given, and what they answer."""

from typing import Any

from fairway.domain.decision import Put, Step
from fairway.runtime.ports import ReadRows, Row, Wanted
from fairway.runtime.views.row_cache import encoded


def pack_step(payload: bytes, step: Step, blobs: list[bytes]) -> list[Any]:
    """A step as commit.lua wants it. Values go beside the request, as `blobs` that it names by number (0: none):
    the server's msgpack knows no byte strings."""

    def blob(data: bytes) -> int:
        blobs.append(data)
        return len(blobs)

    ops: list[Any] = []
    for write in step.writes:
        if isinstance(write, Put):
            row = b"" if write.value is None else b"%d|%b" % (write.rev, encoded(write.table, write.key, write.value))
            expect = -1 if write.expect is None else write.expect
            ops.append([1, write.table, write.key, write.rev, expect, blob(row) if row else 0])
        else:
            ops.append([2, write.table, write.key, write.amount, False if write.most is None else write.most])
    return [blob(payload) if payload else 0, ops]


def row(data: bytes | None) -> Row | None:
    """A stored row without its revision prefix; counters have none and are not rows."""
    if data is None:
        return None
    rev, _, body = data.partition(b"|")
    return Row(int(rev), body)


def found_rows(wanted: Wanted, tables: list[tuple[str, list[str]]], answer: list[Any]) -> ReadRows:
    rows, whole, version, changes = answer
    found = ReadRows(version=int(version))
    for (table, keys), values in zip(tables, rows, strict=True):
        for key, value in zip(keys, values, strict=True):
            if (one := row(value)) is not None:
                found.rows[table, key] = one
    for table, pairs in zip(wanted.whole, whole, strict=True):
        if pairs and b"|" not in pairs[0][1]:
            found.counters[table] = {key.decode(): int(value) for key, value in pairs}
        else:
            found.whole[table] = {key.decode(): one for key, value in pairs if (one := row(value))}
    for name, value in changes:
        table, _, key = name.decode().partition("\n")
        found.changes.append((table, key, row(value or None)))
    return found
