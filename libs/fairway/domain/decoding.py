"""What others wrote, decoded: a reader needs to know one error, whatever is wrong with the text."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")
Text = bytes | str | msgspec.Raw


@overload
def decoder(kind: type[T]) -> Callable[[Text], T]: ...
@overload
def decoder(kind: Any) -> Callable[[Text], Any]: ...
def decoder(kind: Any) -> Callable[[Text], Any]:
    """A decoder of JSON that raises msgspec.DecodeError and nothing else. msgspec has errors of their own for nesting
    that would end the stack of the reader, who may stand anywhere in it, and for what is not UTF-8."""
    decode = msgspec.json.Decoder(kind).decode

    def decoded(text: Text) -> Any:
        try:
            return decode(text)
        except RecursionError:
            raise msgspec.DecodeError("it is nested too deeply") from None
        except UnicodeDecodeError as error:
            raise msgspec.DecodeError(f"it is not UTF-8: {error}") from None

    return decoded
