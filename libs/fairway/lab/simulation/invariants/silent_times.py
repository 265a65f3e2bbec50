"""When the fleet was silent, by the reports that the bus has: what must not be given up then."""

from bisect import bisect_right
from collections.abc import Container

from fairway.domain.attempts.eviction_freeze import SILENT_MS
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code

# What is given up because of what a member shows, or does not show.
_EVICTED = (
    Code.VANISHED,
    Code.EDITED,
    Code.CORDONED,
    Code.GANG_DOWN,
    Code.START_TIMEOUT,
    Code.NODE_LOST,
    Code.BATCH_SHRUNK,
)


class Silence:
    """Times in ms since the run began. A report may be read `late_ms` after the bus had it."""

    def __init__(self, late_ms: int) -> None:
        self._longest_ms = SILENT_MS + late_ms
        self._reports: dict[str, list[int]] = {}

    def hear(self, report: fleet.Report, now: int) -> None:
        if report.left:
            self._reports.pop(report.cluster, None)
        else:
            self._reports.setdefault(report.cluster, []).append(now)

    def broken_by(self, message: wire.JobMessage, at: int, members: Container[str]) -> str:
        """What is wrong with a word that was decided at `at`; empty when nothing is. Two members and more than half of
        them had been silent for longer than anybody may think that they are not."""
        if not isinstance(message, wire.Lost) or message.why.code not in _EVICTED:
            return ""
        here = {name: times for name, times in self._reports.items() if name in members}
        silent = sorted(name for name, times in here.items() if _last(times, at) < at - self._longest_ms)
        if len(silent) < 2 or 2 * len(silent) <= len(here):
            return ""
        return f"attempt {message.attempt} was given up while {', '.join(silent)} were silent: {message.why.text}"


def _last(times: list[int], at: int) -> int:
    index = bisect_right(times, at)
    return times[index - 1] if index else at
