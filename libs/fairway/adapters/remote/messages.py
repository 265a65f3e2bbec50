"""Calls of the cluster port as messages: for a member that only its own side can reach, over the bus.

A call is packed, compressed and cut into frames, for a bus takes no message above a size of its own (1 MiB by
default), and a manifest may be as large. Nothing of it is stored: an answer that does not come is an outcome that is
not known, as with any API.

    fairway.member.<name>.ask                who serves this member?          (one of those that listen answers)
    fairway.member.<name>.at.<instance>      a call of the port to that one
    fairway.member.<name>.reply.<asker>.<n>  its answer
"""

import zlib
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from fairway.wire import subjects

# Well below 1 MiB, with room for the frame and the subject.
_FRAME = 700_000
# Of one call or answer when unpacked: a manifest has at most 1 MiB, a batch of changes some more.
_MOST = 64 * 2**20
# Frames of calls that are not complete yet; beyond it the oldest are given up.
_UNFINISHED = 64


class CallRequest(Struct, omit_defaults=True):
    """A method of the port with its arguments by name; besides: hello, facts, open, next and identify, which is a get
    without what the object holds."""

    verb: str
    args: dict[str, Any] = {}


class Answered(Struct, omit_defaults=True):
    """`refused` is a code and a text, `away` why the outcome is not known; else `value`."""

    value: Any = None
    refused: tuple[str, str] | None = None
    away: str = ""


class _Frame(Struct, array_like=True):
    call: str
    part: int
    of: int
    data: bytes


class Broken(ValueError):
    """What came is no message of ours."""


class CallTooLarge(ValueError):
    """More than a call or an answer may be."""


_encode = msgspec.msgpack.Encoder().encode
_frame = msgspec.msgpack.Decoder(_Frame).decode


def ask(name: str) -> str:
    return f"fairway.member.{subjects.token(name)}.ask"


def at(name: str, instance: str) -> str:
    return f"fairway.member.{subjects.token(name)}.at.{instance}"


def reply(name: str, asker: str, call: str) -> str:
    return f"fairway.member.{subjects.token(name)}.reply.{asker}.{call}"


def frames(call: str, message: CallRequest | Answered) -> Iterator[bytes]:
    packed = _encode(message)
    if len(packed) > _MOST:
        raise CallTooLarge(f"{len(packed)} bytes; {_MOST} is the most")
    data = zlib.compress(packed, 1)
    count = max(1, -(-len(data) // _FRAME))
    for part in range(count):
        yield _encode(_Frame(call, part, count, data[part * _FRAME : (part + 1) * _FRAME]))


class Assembler:
    """Puts frames together. Those of one call come in order, as a connection keeps it; calls may be mixed."""

    def __init__(self) -> None:
        self._parts: dict[str, list[bytes]] = {}

    def take(self, data: bytes) -> tuple[str, bytes] | None:
        """The call and its packed message once its last frame is there. Raises Broken."""
        try:
            frame = _frame(data)
        except msgspec.DecodeError as error:
            raise Broken(str(error)) from error
        parts = self._parts.setdefault(frame.call, [])
        if frame.part != len(parts) or frame.of * _FRAME > _MOST:
            del self._parts[frame.call]
            raise Broken(f"part {frame.part} of {frame.of} where {len(parts)} was due")
        parts.append(frame.data)
        if len(parts) < frame.of:
            while len(self._parts) > _UNFINISHED:
                del self._parts[next(iter(self._parts))]
            return None
        del self._parts[frame.call]
        return frame.call, _unpacked(b"".join(parts))


def _unpacked(data: bytes) -> bytes:
    """At most so much: a few bytes can be packed to stand for gigabytes."""
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(data, _MOST)
    except zlib.error as error:
        raise Broken(str(error)) from error
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise Broken(f"more than {_MOST} bytes, or cut off")
    return found
