"""Cancellations as an auditor sees them: who was cancelled gets no further place, and is recalled from where it is."""

from fairway.audit.attempts import Spoken, Violation
from fairway.domain.job import ends
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code

_GOES_ON = (wire.Dequeued, wire.Reserved, wire.Dispatched)


class Cancels:
    """A cancellation is acted upon within `grace_ms`. What then ends by itself, before it could be removed, has its own
    end."""

    def __init__(self, grace_ms: int) -> None:
        self._grace_ms = grace_ms
        self._asked: dict[tuple[str, str], int] = {}
        self._recalled: set[str] = set()

    def asked(self, message: wire.Cancel) -> None:
        """One that does not say when it was asked for cannot be late; and nobody cancels another tenant's job."""
        if message.at:
            self._asked.setdefault((message.tenant, message.job), message.at)

    def follow(self, spoken: Spoken) -> list[Violation]:
        """What this event breaks. Events of one job come in their order."""
        message = spoken.message
        asked = self._asked.get((message.tenant, message.job))
        if asked is None:
            return []
        if isinstance(message, wire.Recall) and message.why.code is Code.CANCELLED:
            self._recalled.add(message.job)
        ended = ends(message) and not isinstance(message, wire.Cancelled) and message.job not in self._recalled
        late = message.at - asked
        if late <= self._grace_ms or not (ended or isinstance(message, _GOES_ON)):
            return []
        text = f"attempt {message.attempt} {message.verb} {late / 1000:.0f} s after the job was cancelled"
        return [Violation(message.job, spoken.sequence, "cancel", text)]
