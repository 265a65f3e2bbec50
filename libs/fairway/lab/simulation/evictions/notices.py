"""What runs and is evicted with notice has the time that the record gives it."""

from fairway.wire import jobs as wire


class Notices:
    """Times in ms since 1970."""

    def __init__(self) -> None:
        self._until: dict[tuple[str, int], int] = {}

    def hear(self, message: wire.JobMessage) -> None:
        """Of several recalls the one that wants it gone soonest counts: a cancel gives no notice."""
        if isinstance(message, wire.Recall):
            key = (message.job, message.attempt)
            self._until[key] = min(message.delete_at, self._until.get(key, message.delete_at))

    def left(self, job: str, attempt: int, now: int) -> int:
        """How long it has yet."""
        return max(0, self._until.get((job, attempt), 0) - now)
