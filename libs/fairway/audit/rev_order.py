"""The events of one job in the order of their revs: services publish after they commit, so a later event can be stored
before an earlier one."""

from collections.abc import Callable, Iterator

from fairway.audit.attempts import Spoken, Violation


class RevOrder:
    """`early` counts the events that had to wait for an earlier one; up to `rev` all were read."""

    def __init__(self, job: str) -> None:
        self._job = job
        self.rev = self.early = 0
        self._repeated: list[Spoken] = []
        self._waiting: dict[int, Spoken] = {}
        self._ids: dict[int, str] = {}

    def ready(self, spoken: Spoken) -> Iterator[Spoken]:
        """The messages that can be read now: this one and those that waited for it, or none yet."""
        rev = spoken.message.rev
        if rev <= self.rev or rev in self._waiting:
            # The very same message once more is a repetition: the bus knows an id again for minutes only.
            if self._ids.get(rev, "") != spoken.id:
                self._repeated.append(spoken)
            return
        self._ids[rev] = spoken.id
        self._waiting[rev] = spoken
        self.early += rev != self.rev + 1
        while (ready := self._waiting.pop(self.rev + 1, None)) is not None:
            self.rev += 1
            yield ready

    def settle(self, missing: Callable[[], None]) -> Iterator[Spoken]:
        """Those that still wait, though what they waited for is `missing`."""
        for rev in sorted(self._waiting):
            if rev > self.rev + 1:
                missing()
            self.rev = rev
            yield self._waiting.pop(rev)

    def left(self) -> Iterator[Violation]:
        """What only the end of the record shows."""
        for spoken in self._repeated:
            text = f"rev {spoken.message.rev} was said twice, the second time as {spoken.message.verb}"
            yield Violation(self._job, spoken.sequence, "rev", text)
        if self._waiting:
            first = min(self._waiting)
            text = f"rev {self.rev + 1} is missing; the record goes on with rev {first}"
            yield Violation(self._job, self._waiting[first].sequence, "rev", text)
