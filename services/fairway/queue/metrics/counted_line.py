"""The waiting jobs of one queue in their order, with how many wait for what."""

from collections.abc import Callable

from sortedcontainers import SortedList

from fairway.domain.job import Job
from fairway.wire.reasons import Code

# The last is the id, and before it stands when the job was enqueued.
Place = tuple[int, int, int, str]
_LAST_ID = "\U0010ffff"


def reason_of(job: Job) -> Code:
    """The first reason for which it waits."""
    if job.held or job.removing:
        return Code.SUSPENDED if job.held else Code.WAITING_FOR_REMOVAL
    if job.gates:
        return job.gates[0].code
    return job.why.code if job.why is not None else Code.QUEUED


class CountedLine:
    """`places` are in order; `reasons` counts the jobs by the first reason to wait."""

    def __init__(self) -> None:
        self.places: SortedList[Place] = SortedList()
        self.reasons: dict[Code, int] = {}

    def add(self, place: Place, job: Job) -> None:
        self.places.add(place)
        reason = reason_of(job)
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def remove(self, place: Place, job: Job) -> None:
        self.places.remove(place)
        reason = reason_of(job)
        self.reasons[reason] -= 1
        if not self.reasons[reason]:
            del self.reasons[reason]

    def oldest(self, counts: Callable[[str], bool]) -> int | None:
        """When the oldest job that `counts` was enqueued. Among jobs of one priority the oldest stand first."""
        found: int | None = None
        at = 0
        while at < len(self.places):
            place = self.places[at]
            if (found is None or place[2] < found) and not counts(place[3]):
                at += 1
                continue
            found = place[2] if found is None else min(found, place[2])
            at = self.places.bisect_right((place[0], place[1], _AFTER_ALL, _LAST_ID))
        return found


# Later than any time.
_AFTER_ALL = 2**63
