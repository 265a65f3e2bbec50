"""Placement's loops, compiled and as they are written."""

from collections.abc import Iterator
from contextlib import contextmanager

from fairway.placement.loops import machine_code
from fairway.placement.loops.compiled import LOOPS


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
