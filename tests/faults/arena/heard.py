"""What the record has said of jobs and attempts so far."""

from fairway.domain.job import ends
from fairway.wire import jobs as wire
from tests.faults.arena.members import Attempt


class Heard:
    """`ended` are the jobs that have ended, `cause` says which message each came of, `unwanted` are those that were
    cancelled, in time or not. Of attempts, those in `running` have run, those in `given_up` are lost, those in
    `recalled` are to be removed, and those in `by_itself` were the last ones of their jobs, and ended by themselves."""

    def __init__(self) -> None:
        self.ended: set[str] = set()
        self.cause: dict[str, str] = {}
        self.unwanted: set[str] = set()
        self.running: set[Attempt] = set()
        self.given_up: set[Attempt] = set()
        self.recalled: list[Attempt] = []
        self.by_itself: set[Attempt] = set()

    def hear(self, message: wire.JobMessage) -> None:
        attempt = (message.job, message.attempt)
        match message:
            case wire.Admitted() | wire.Rejected():
                self.cause[message.job] = message.cause
            case wire.Cancel():
                self.unwanted.add(message.job)
            case wire.Running():
                self.running.add(attempt)
            case wire.Recall():
                self.recalled.append(attempt)
            case wire.Lost():
                self.given_up.add(attempt)
            case wire.Succeeded() | wire.Failed(final=True):
                self.by_itself.add(attempt)
        if ends(message):
            self.ended.add(message.job)

    def may_stay(self, attempt: Attempt) -> bool:
        """What has ended by itself can be looked at where it ran, unless somebody has cancelled even that."""
        return attempt in self.by_itself and attempt[0] not in self.unwanted
