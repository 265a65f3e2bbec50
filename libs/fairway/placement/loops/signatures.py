"""The types of a loop's arguments, read from its annotations: each has one signature, so that what was compiled ahead
is all that is ever called."""

from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from numba import types


def signature(function: Callable[..., Any]) -> tuple[types.Type, ...]:
    """TypeError names an annotation that says nothing of an array."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    return tuple(_type(hint) for hint in hints.values())


def _type(hint: Any) -> types.Type:
    if hint is int:
        return types.int64
    if get_origin(hint) is Annotated:
        _, scalar, dimensions = get_args(hint)
        return types.Array(getattr(types, scalar), dimensions, "C")
    if isinstance(hint, type) and issubclass(hint, tuple):
        fields = get_type_hints(hint, include_extras=True)
        named: Any = hint
        return types.NamedTuple([_type(fields[name]) for name in named._fields], named)  # type: ignore[no-untyped-call]  # it has no types
    raise TypeError(f"{hint!r} is no type of an argument of a loop")
