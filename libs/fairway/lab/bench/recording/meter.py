"""Measures a recorder from inside its process: what its own steps take of the thread's processor time."""

from collections import defaultdict
from collections.abc import Callable, Coroutine, Generator
from time import thread_time_ns
from typing import Any

from fairway.runtime.views.pending_views import PendingViews
from fairway.runtime.views.recorder import Recorder

# What the loop calls, and what is done beside it. A piece is made within `_store`.
_CALLS = ("begun", "asked", "took", "decided", "refused", "settled", "torn")
_SAMPLE = 20_000


class RecorderMeter:
    """Of all recorders of this process, from the moment it is made: nanoseconds and calls by method. What one calls of
    the others counts for itself only; but `store` has `piece` (encoding and compression) and `freed`, and publishing
    besides. `freed` is what was kept by reference: without a recorder it is freed as well, and earlier."""

    def __init__(self) -> None:
        self._spent: dict[str, float] = defaultdict(float)
        self._calls: dict[str, int] = defaultdict(int)
        self._inside = False
        self._kept: list[object] = []
        self._own = self._measure_itself()
        for name in _CALLS:
            self._wrap(Recorder, name, self._timed)
        self._wrap(PendingViews, "_begin", self._keeping)
        self._wrap(PendingViews, "piece", self._timed_piece)
        self._wrap(Recorder, "_store", self._timed_steps)

    def _measure_itself(self) -> float:
        """What measuring adds to a call, in nanoseconds."""
        nothing = self._timed("", lambda *given: None)
        for _ in range(_SAMPLE):
            nothing(self, self, self)
        return self._spent.pop("") / self._calls.pop("")

    def told(self) -> dict[str, float]:
        """Microseconds by method."""
        return {name: (spent - self._own * self._calls[name]) / 1000 for name, spent in self._spent.items()}

    def _wrap(self, kind: type, name: str, how: Callable[[str, Callable[..., Any]], Callable[..., Any]]) -> None:
        setattr(kind, name, how(name.strip("_"), getattr(kind, name)))

    def _timed(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*given: Any) -> Any:
            if self._inside:
                return method(*given)
            self._inside = True
            start = thread_time_ns()
            try:
                return method(*given)
            finally:
                self._count(name, start)
                self._inside = False

        return measured

    def _keeping(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def measured(pending: Any) -> None:
            self._kept.append(pending._waiting[0])
            method(pending)

        return measured

    def _timed_piece(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*given: Any) -> Any:
            start = thread_time_ns()
            made = method(*given)
            self._count(name, start)
            start = thread_time_ns()
            self._kept.clear()
            self._count("freed", start)
            return made

        return measured

    def _timed_steps(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        async def measured(*given: Any) -> Any:
            return await _Steps(method(*given), lambda start: self._count(name, start))

        return measured

    def _count(self, name: str, start: int) -> None:
        self._spent[name] += thread_time_ns() - start
        self._calls[name] += 1


class _Steps:
    """A coroutine of which each step is counted, and not what others do while it waits."""

    def __init__(self, steps: Coroutine[Any, Any, Any], count: Callable[[int], None]) -> None:
        self._steps = steps
        self._count = count

    def __await__(self) -> Generator[Any, Any, Any]:
        given: Any = None
        raised: BaseException | None = None
        while True:
            start = thread_time_ns()
            try:
                waits = self._steps.send(given) if raised is None else self._steps.throw(raised)
            except StopIteration as end:
                return end.value
            finally:
                self._count(start)
            raised = None
            try:
                given = yield waits
            except BaseException as error:  # it is cancelled: that is for whoever waits inside
                raised = error
