"""How much is recorded: in which part of the time, and how many bytes may wait."""

from msgspec import Struct

from fairway.wire.reasons import Code, Reason

# In each of these a share is recorded: long against what telling all takes, and short against what anybody looks for.
_WINDOW_MS = 60_000


class RecordedShare(Struct, frozen=True):
    """Of each minute by the clock, which is the same for all stages, the first `percent` of a hundred are recorded."""

    percent: int = 100

    def rest(self, now: int) -> int:
        """When it is recorded again; 0 if it is recorded now."""
        at = now % _WINDOW_MS
        return now - at + _WINDOW_MS if at >= self.percent * _WINDOW_MS // 100 else 0

    @property
    def why(self) -> Reason:
        return Reason(Code.VIEW_LEFT_OUT, f"it was not recorded: FAIRWAY_VIEWS_SHARE is {self.percent} %")


class RecordingLimits(Struct, frozen=True):
    """Only a `share` is recorded. `most` bytes wait to be stored, and more is given up; a whole view counts for `least`
    when it is smaller."""

    share: RecordedShare = RecordedShare()
    most: int = 16 << 20
    least: int = 4 << 20
