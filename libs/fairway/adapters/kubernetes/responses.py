"""What a Kubernetes API says, read: a Status, or an object of which nobody named the fields."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from fairway.domain.text.decoding import decoded
from fairway.domain.text.foreign_json import readable
from fairway.runtime.ports import Unreachable

T = TypeVar("T")


class Unreadable(Unreachable):
    """What answered is not what such an API answers."""


class _Cause(Struct):
    reason: str = ""


class _Details(Struct):
    name: str = ""
    kind: str = ""
    causes: list[_Cause] | None = None


class Status(Struct):
    """The part of a Kubernetes Status that is looked at."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: _Details | None = None


_status = msgspec.json.Decoder(Status).decode
_object = msgspec.json.Decoder(dict[str, Any]).decode


def read(what: str, data: bytes, decode: Callable[[bytes], T]) -> T:
    """An answer. Raises Unreadable, which names `what` was answered."""
    try:
        return decoded(decode, readable(data))
    except msgspec.DecodeError as error:
        raise Unreadable(f"{what}: an answer that makes no sense: {error}") from error


def value(what: str, data: bytes) -> dict[str, Any]:
    """One whose fields nobody named."""
    return read(what, data, _object)


def status_of(data: bytes | msgspec.Raw) -> Status:
    try:
        return decoded(_status, readable(bytes(data)))
    except msgspec.DecodeError:
        return Status(message=bytes(data)[:200].decode(errors="replace").strip())
