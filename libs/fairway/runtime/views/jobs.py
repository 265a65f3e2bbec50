"""The memory of a service that knows jobs by their rows, and nothing else."""

from collections.abc import Iterable, Sequence
from typing import Generic

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Decision, Heard, Put, Step
from fairway.domain.events import Teller
from fairway.domain.fold import fold
from fairway.domain.job import IllegalMove, Job
from fairway.domain.resources import Resources
from fairway.runtime.ports import ReadRows, Wanted
from fairway.runtime.service import Remembered, Said
from fairway.runtime.views import row_cache
from fairway.wire.jobs import JobMessage


class JobsMemory(Generic[Said]):
    """The jobs that the messages in hand speak of.

    A message may be ahead of the row when the store was rebuilt while it was on its way; the row then catches up
    with it, and `revs` keeps what the store has for the guard.
    """

    settings: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.revs: dict[str, int] = {}
        self.stored: dict[str, Job | None] = {}

    def begin(self) -> None:
        self.jobs.clear()
        self.revs.clear()

    def first(self, found: ReadRows | None) -> Wanted | None:
        return None

    def wants(self, heard: Sequence[Heard[Said]], now: int) -> Wanted:
        names = dict.fromkeys(decision.job_of(one) for one in heard)
        names.pop("", None)
        return Wanted(rows={decision.JOBS: list(names)} if names else {})

    def take(self, found: ReadRows, heard: Sequence[Heard[Said]], now: int) -> None:
        self.jobs = {}
        self.revs = {}
        self.stored = {}
        for (table, key), row in found.rows.items():
            if table == decision.JOBS:
                self.jobs[key] = row_cache.JOBS.value(table, key, row.data)
                self.revs[key] = row.rev
        for one in heard:
            if isinstance(one.message, JobMessage):
                self._catch_up(one.message)

    def _catch_up(self, message: JobMessage) -> None:
        job = self.jobs.get(message.job)
        if message.rev > (job.rev if job else 0):
            try:
                self.jobs[message.job] = fold(job, message)
                self.stored.setdefault(message.job, job)
            except IllegalMove:
                return  # `decide` finds that the message is not news

    def apply(self, step: Step) -> None:
        for write in step.writes:
            if isinstance(write, Put) and write.table == decision.JOBS:
                self.jobs[write.key] = write.value
                self.revs[write.key] = write.rev
                self.stored.pop(write.key, None)

    def make_up(self, heard: Heard[Said], decided: Decision, now: int) -> Decision:
        """With the row of a job that is behind its message, if the decision does not write it anyway: nobody else
        would, and whoever guards a step by the newer rev would be refused for ever."""
        if not self.stored:  # as nearly always
            return decided
        name = decision.job_of(heard)
        writes = (write for step in decided.steps for write in step.writes if isinstance(write, Put))
        if name not in self.stored or decided.calls or any((w.table, w.key) == (decision.JOBS, name) for w in writes):
            return decided
        return msgspec.structs.replace(decided, steps=(Teller(self, "", heard, now, name).step(), *decided.steps))

    def known_job(self, name: str) -> Job | None:
        """As it is now, if it is in hand."""
        return self.jobs.get(name)

    def refused(self, step: Step) -> None:
        """Rows are read again for every batch; nothing to forget."""

    @staticmethod
    def told(message: object) -> object:
        return message

    @staticmethod
    def told_row(table: str, data: bytes) -> bytes:
        return data

    def remembered(self) -> Iterable[Remembered]:
        return ()

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        """Nothing was remembered."""


def requests_of(job: Job) -> dict[str, Resources]:
    """What one pod of each pod set requests."""
    assert job.spec is not None, "a job that was placed was admitted"
    return {pods.name: pods.requests for pods in job.spec.workload.pod_sets}
