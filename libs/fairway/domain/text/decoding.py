"""What others wrote, decoded: a reader needs to know one error, whatever is wrong with the text."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")
Given = TypeVar("Given")
Text = bytes | str | msgspec.Raw


def decoded(decode: Callable[[Given], T], text: Given) -> T:
    """What `decode` makes of the text. Raises msgspec.DecodeError and nothing else: msgspec has errors of their own for
    nesting that would end the stack of the reader, who may stand anywhere in it, and for what is not UTF-8."""
    try:
        return decode(text)
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"it is not UTF-8: {error}") from None


@overload
def decoder(kind: type[T]) -> Callable[[Text], T]: ...
@overload
def decoder(kind: object) -> Callable[[Text], Any]: ...
def decoder(kind: object) -> Callable[[Text], Any]:
    """A decoder of JSON whose one error is msgspec.DecodeError."""
    return partial(decoded, msgspec.json.Decoder(kind).decode)
