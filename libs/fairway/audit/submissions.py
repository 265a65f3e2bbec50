"""What was submitted, and the job that answers each: none is lost, and none is answered twice."""

from hashlib import sha256

from fairway.audit.attempts import Spoken, Violation
from fairway.wire import jobs as wire


class AnsweredSubmissions:
    def __init__(self) -> None:
        self._submitted: dict[str, tuple[int, str]] = {}
        self._answered: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._submitted)

    def hear(self, message: wire.Submitted, spoken: Spoken) -> None:
        self._submitted[spoken.id] = (spoken.sequence, _same(message, spoken.id))

    def born(self, spoken: Spoken) -> list[Violation]:
        """The first word on a job answers one submitted message, and no message is answered twice."""
        message = spoken.message
        if not isinstance(message, wire.Admitted | wire.Rejected):
            return []  # out of order, or without a beginning: the missing rev is said in the end
        text = ""
        if message.cause not in self._submitted:
            text = f"{message.verb} without a submitted message; its cause is {message.cause}"
        elif message.cause in self._answered:
            other = self._answered[message.cause]
            text = f"the submitted message that caused it was answered before, by job {other}"
        self._answered[message.cause] = message.job
        return [Violation(message.job, spoken.sequence, "origin", text)] if text else []

    def lost(self) -> list[Violation]:
        """Submitted messages that nobody answered. One that repeats another needs no answer of its own."""
        answered = {self._submitted[name][1] for name in self._answered if name in self._submitted}
        return [
            Violation("", sequence, "lost", f"submitted message {name} was neither admitted nor rejected")
            for name, (sequence, same) in self._submitted.items()
            if name not in self._answered and same not in answered
        ]


def _same(message: wire.Submitted, name: str) -> str:
    """Equal for messages that stand for one job: same tenant and client id, same words."""
    client = f"client {message.client}" if message.client else f"message {name}"
    words = sha256(bytes(message.manifest) + b"".join(map(bytes, message.policies))).hexdigest()
    return f"{message.tenant}\x1f{client}\x1f{words}"
