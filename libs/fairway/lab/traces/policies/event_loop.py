"""A trace played by a rule: submissions and ends in the order of time, and after each whoever may start now."""

from collections.abc import Sequence
from heapq import heappop, heappush

from msgspec import Struct

from fairway.lab.traces.policies.node_pool import NodePool, Shape, shape_of
from fairway.lab.traces.policies.queues import WaitingLine
from fairway.lab.traces.trace import TraceJob


class JobRun(Struct, frozen=True):
    """When a job began to run and when it ended, in seconds of trace time; `evicted` are earlier runs, which were ended
    for others and came to nothing."""

    started: float
    ended: float
    evicted: tuple[tuple[float, float], ...] = ()


def play(jobs: Sequence[TraceJob], line: WaitingLine, pool: NodePool) -> list[JobRun | None]:
    """For each job, in its order, how it ran; None for one that the empty pool could not hold. At one moment ends come
    before submissions, and both before starts."""
    game = _Game(jobs, line, pool)
    for index in sorted(range(len(jobs)), key=lambda index: jobs[index].at):
        game.ends_until(jobs[index].at)
        game.submit(index)
    game.ends_until(float("inf"))
    return game.runs


class _Game:
    def __init__(self, jobs: Sequence[TraceJob], line: WaitingLine, pool: NodePool) -> None:
        self._jobs = jobs
        self._line = line
        self._pool = pool
        self._never = _too_large(jobs, pool)
        self._ends: list[tuple[float, int]] = []
        self._full: set[Shape] = set()
        self._now = 0.0
        self.runs: list[JobRun | None] = [None] * len(jobs)

    def submit(self, index: int) -> None:
        job = self._jobs[index]
        self._now = job.at
        if shape_of(job) not in self._never:
            self._line.add(index, job)
            self._start()

    def ends_until(self, time: float) -> None:
        """Everything that ends up to this moment, and who starts in the room of it."""
        while self._ends and self._ends[0][0] <= time:
            self._now = self._ends[0][0]
            while self._ends and self._ends[0][0] == self._now:
                _, index = heappop(self._ends)
                self._pool.end(str(index))
            self._full.clear()
            self._start()

    def _start(self) -> None:
        while (index := self._line.first(self._full)) is not None:
            job = self._jobs[index]
            if self._pool.start(str(index), job) is None:
                self._full.add(shape_of(job))
                continue
            self._line.take()
            self.runs[index] = JobRun(self._now, self._now + job.seconds)
            heappush(self._ends, (self._now + job.seconds, index))


def _too_large(jobs: Sequence[TraceJob], pool: NodePool) -> set[Shape]:
    """Shapes that do not fit while nothing else is there."""
    never = set()
    for shape, job in {shape_of(job): job for job in jobs}.items():
        if pool.start("try", job) is None:
            never.add(shape)
        else:
            pool.end("try")
    return never
