"""Placement's loops, compiled and as they are written."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba

from fairway.placement.loops import machine_code
from fairway.placement.loops.compiled import LOOPS, CompiledLoop
from fairway.placement.loops.signatures import signature


def compiled() -> None:
    """From now on; the machine code is that of `make install`."""
    assert machine_code.load() == ""


@contextmanager
def as_written() -> Iterator[None]:
    before = {name: one.run for name, one in LOOPS.items()}
    for one in LOOPS.values():
        one.run = one.written
    try:
        yield
    finally:
        for name, run in before.items():
            LOOPS[name].run = run


@contextmanager
def compared_with_annotations() -> Iterator[dict[str, int]]:
    """Whoever calls a loop gives it arguments of the types that it was compiled for: the code itself does not look. How
    often each was called is told."""
    calls = dict.fromkeys(LOOPS, 0)
    before = {name: one.run for name, one in LOOPS.items()}
    for name, one in LOOPS.items():
        one.run = _compared(name, one, calls)
    try:
        yield calls
    finally:
        for name, run in before.items():
            LOOPS[name].run = run


def _compared(name: str, one: CompiledLoop[Any, Any], calls: dict[str, int]) -> Callable[..., Any]:
    run = one.run
    wanted = signature(one.written)

    def compared(*args: Any) -> Any:
        calls[name] += 1
        assert tuple(map(numba.typeof, args)) == wanted, name
        return run(*args)

    return compared
