"""What became of every job: by the record, read once more, and by what the members saw."""

from collections import Counter
from collections.abc import Collection

from msgspec import Struct

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker, Grace
from fairway.domain.text.decoding import decoder
from fairway.lab.bench.workers import small_jobs
from fairway.lab.bench.workers.member_objects import MemberObjects
from fairway.lab.traces.fleet import allocatable
from fairway.runtime.ports import Bus
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire

# A cluster takes new work on reports that are half a minute old; a moment more until they are in the record.
_GRACE = Grace(reports=35_000, tree=35_000, cancel=60_000)
_message = decoder(wire.Message)
_report = decoder(fleet.Report)


class RecordAndMembers(Struct, frozen=True):
    """All but `submitted` and `attempts` has to be nothing. `lost` did not succeed, or have an end; `double` succeeded
    more than once. Of the members: jobs that succeeded and were never there, attempts that were there as two objects.
    `breaches` are what else the auditor found."""

    submitted: int
    attempts: int
    lost: tuple[str, ...]
    double: tuple[str, ...]
    never_in_members: tuple[str, ...]
    double_in_members: tuple[str, ...]
    breaches: tuple[str, ...]

    def counts(self) -> dict[str, int]:
        return {"submitted": self.submitted} | {name: len(found) for name, found in self._found().items()}

    def _found(self) -> dict[str, tuple[str, ...]]:
        names = ("lost", "double", "never_in_members", "double_in_members", "breaches")
        return {name: getattr(self, name) for name in names}

    @property
    def wrong(self) -> str:
        found = self._found().items()
        return "; ".join(f"{len(some)} {name}, such as {', '.join(some[:3])}" for name, some in found if some)


def auditor() -> Checker:
    """Of the clusters and the quota tree of the load."""
    return Checker(allocatable(small_jobs.clusters()), small_jobs.tree(), _GRACE)


async def account(bus: Bus, sent: Collection[str], members: MemberObjects, checker: Checker) -> RecordAndMembers:
    """Reads the record from its beginning to its end."""
    succeeded: Counter[str] = Counter()
    async for one in bus.history(subjects.JOBS):
        message = _message(one.data)
        checker.hear(Spoken(one.sequence, one.id, one.subject, message))
        if isinstance(message, wire.Succeeded):
            succeeded[message.job] += 1
    async for one in bus.history(subjects.CLUSTERS, ("fairway.cluster.report.>",)):
        checker.see(_report(one.data))
    found = checker.findings()
    there = members.jobs()
    return RecordAndMembers(
        submitted=len(sent),
        attempts=found.attempts,
        lost=tuple(sorted({*(set(sent) - set(succeeded)), *found.unfinished})),
        double=tuple(job for job, often in succeeded.items() if often > 1 or job not in sent),
        never_in_members=tuple(job for job in succeeded if job not in there),
        double_in_members=tuple(members.double()),
        breaches=tuple(f"{one.rule}: {one.job} {one.text}" for one in found.violations),
    )
