"""What was submitted, and the job that answers each: none is lost, and none is answered twice."""

from hashlib import sha256

from fairway.audit.attempts import Spoken, Violation
from fairway.wire import jobs as wire


class AnsweredSubmissions:
    def __init__(self) -> None:
        self._submitted: dict[str, tuple[int, str]] = {}
        self._answered: dict[str, str] = {}
        self._unfounded: dict[str, Violation] = {}

    def __len__(self) -> int:
        return len(self._submitted)

    def hear(self, message: wire.Submitted, spoken: Spoken) -> None:
        words = sha256(bytes(message.manifest) + b"".join(map(bytes, message.policies))).hexdigest()
        self._submitted[spoken.id] = (spoken.sequence, _same(message.tenant, message.client, spoken.id, words))

    def removed(self, message: wire.ManifestsRemoved) -> None:
        """They were there, and are told of instead."""
        for one in message.removed:
            if one.said == wire.Submitted.verb and one.id not in self._submitted:
                same = _same(message.tenant, one.client, one.id, one.sha256)
                self._submitted[one.id] = (one.sequence, same)
                self._unfounded.pop(one.id, None)

    def born(self, spoken: Spoken) -> list[Violation]:
        """The first word on a job answers one submitted message, and no message is answered twice. One that is not
        there may have been removed, which is told later."""
        message = spoken.message
        if not isinstance(message, wire.Admitted | wire.Rejected):
            return []  # out of order, or without a beginning: the missing rev is said in the end
        other = self._answered.get(message.cause, "")
        self._answered[message.cause] = message.job
        if other:
            text = f"the submitted message that caused it was answered before, by job {other}"
            return [Violation(message.job, spoken.sequence, "origin", text)]
        if message.cause not in self._submitted:
            text = f"{message.verb} without a submitted message; its cause is {message.cause}"
            self._unfounded[message.cause] = Violation(message.job, spoken.sequence, "origin", text)
        return []

    def lost(self) -> list[Violation]:
        """Submitted messages that nobody answered, and answers to what never was there. One that repeats another needs
        no answer of its own."""
        answered = {self._submitted[name][1] for name in self._answered if name in self._submitted}
        lost = [
            Violation("", sequence, "lost", f"submitted message {name} was neither admitted nor rejected")
            for name, (sequence, same) in self._submitted.items()
            if name not in self._answered and same not in answered
        ]
        return [*self._unfounded.values(), *lost]


def _same(tenant: str, client: str, name: str, words: str) -> str:
    """Equal for messages that stand for one job: same tenant and client id, same words by their digest."""
    return f"{tenant}\x1f{f'client {client}' if client else f'message {name}'}\x1f{words}"
