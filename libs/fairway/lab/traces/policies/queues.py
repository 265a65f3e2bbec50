"""Who goes next among the jobs that wait, by a rule; whether there is room is asked by who plays the events."""

from collections import deque
from collections.abc import Container
from heapq import heappop, heappush
from typing import Protocol

from fairway.lab.traces.policies.node_pool import Shape, shape_of
from fairway.lab.traces.trace import TraceJob


class WaitingLine(Protocol):
    """Jobs are known by their place in the trace."""

    def add(self, index: int, job: TraceJob) -> None: ...
    def first(self, full: Container[Shape]) -> int | None:
        """The next one to try while there is no room for jobs of these shapes; None: nobody."""

    def take(self) -> None:
        """The one that `first` gave last has started."""


class Fifo:
    """In the order of submission: while the first one does not fit, nobody goes."""

    def __init__(self) -> None:
        self._line: deque[tuple[int, Shape]] = deque()

    def add(self, index: int, job: TraceJob) -> None:
        self._line.append((index, shape_of(job)))

    def first(self, full: Container[Shape]) -> int | None:
        if not self._line or self._line[0][1] in full:
            return None
        return self._line[0][0]

    def take(self) -> None:
        self._line.popleft()


class ShortestFirst:
    """In the order of run times, which are known beforehand; those that do not fit are passed over."""

    def __init__(self) -> None:
        self._lines: dict[Shape, list[tuple[float, int]]] = {}
        self._next: Shape = ()

    def add(self, index: int, job: TraceJob) -> None:
        heappush(self._lines.setdefault(shape_of(job), []), (job.seconds, index))

    def first(self, full: Container[Shape]) -> int | None:
        heads = [(line[0], shape) for shape, line in self._lines.items() if line and shape not in full]
        if not heads:
            return None
        (_, index), self._next = min(heads, key=lambda head: head[0])
        return index

    def take(self) -> None:
        heappop(self._lines[self._next])
