"""Loops that run compiled once their machine code is loaded (machine_code.py), and as they are written until then."""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class CompiledLoop(Generic[P, R]):
    """A function over arrays. `written` is the function itself; `run` is what a call runs."""

    def __init__(self, written: Callable[P, R]) -> None:
        self.written = written
        self.run: Callable[P, R] = written

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.run(*args, **kwargs)


# By name; and what they call, which is compiled into each of them.
LOOPS: dict[str, CompiledLoop[Any, Any]] = {}
INNER: list[Callable[..., Any]] = []


def loop(function: Callable[P, R]) -> CompiledLoop[P, R]:
    """A function that is called from Python; its arguments have the types of its annotations (signatures.py). It makes
    no arrays: what it needs is given to it."""
    made = LOOPS[function.__qualname__] = CompiledLoop(function)
    return made


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """A function that loops call."""
    INNER.append(function)
    return function
