"""The waiting jobs in memory, in order, by queue and by what they lack. Made from rows alone, so never the truth."""

from collections.abc import Callable, Iterator

from sortedcontainers import SortedList

from fairway.domain.job import Job, State
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.resources import Resources
from fairway.queue.metrics.counted_line import CountedLine, Place
from fairway.queue.waiting.waiting_job import BATCH_ROOM, ROOM, WaitingJob, entry_of, least, place_of, policy_of
from fairway.wire.reasons import Code

# How many of the jobs that freed room has woken last are remembered.
_WOKEN = 10_000
# Of how many shapes it is remembered that there was no room; of another one is asked once more.
_ASKED = 10_000


class WaitingJobs:
    """`lines` has every waiting job of a queue in its order; `groups` the blocked ones by what would serve them, those
    of a quota node together; `under` those of each policy; `flying` those dequeued and not yet reserved, by queue.
    `asked` is how often room had been freed anywhere when the scheduler last had none for a shape; `woken` are jobs
    that freed room let go while others were passed over; `heading` are those of them that are on the way, with the
    cluster whose room it was and what they ask for."""

    def __init__(self, queue: Callable[[str], QueueSpec] = QueueSpec) -> None:
        """`queue` is what orders the jobs of the queue of that name."""
        self._queue = queue
        self.entries: dict[str, WaitingJob] = {}
        self.lines: dict[str, CountedLine] = {}
        self.groups: dict[tuple[str, str], dict[str, SortedList[Place]]] = {}
        self.flying: dict[str, dict[str, Place]] = {}
        self._flying_in: dict[str, str] = {}
        self.under: dict[str, dict[str, None]] = {}
        self.asked: dict[str, int] = {}
        self.woken: dict[str, None] = {}
        self.heading: dict[str, tuple[str, Resources]] = {}

    def put(self, job: Job) -> None:
        """Takes a job as its row says: waiting, in flight, or none of the queue's business."""
        before = self.entries.get(job.id)
        if before is not None and (before.lacks == ROOM or before.batch) and job.state is State.DEQUEUED:
            self._wake(job.id)
        self.drop(job.id)
        if job.state in (State.DEQUEUED, State.PLACED):
            self.goes(job.queue, self.place(job))
            return
        self.heading.pop(job.id, None)
        if job.state is State.QUEUED:
            self._add(job)

    def goes(self, queue: str, place: Place) -> None:
        """The job of this place in the queue is on its way."""
        self.flying.setdefault(queue, {})[place[-1]] = place
        self._flying_in[place[-1]] = queue

    def heads_for(self, job: Job, cluster: str) -> None:
        """It was let go for the freed room of a cluster."""
        assert job.spec is not None, "a job that was let go was admitted"
        self.heading[job.id] = (cluster, least(job.spec.workload)[0])

    def place(self, job: Job) -> Place:
        return place_of(job, self._queue(job.queue))

    def _add(self, job: Job) -> None:
        entry = entry_of(job, self.place(job))
        self.entries[job.id] = entry
        line = self.lines.get(job.queue) or self.lines.setdefault(job.queue, CountedLine())
        line.add(entry.place, job)
        self.under.setdefault(policy_of(job), {})[job.id] = None
        for one in _in_groups(entry):
            where, what = one.key
            self.groups.setdefault((one.lacks, where), {}).setdefault(what, SortedList()).add(entry.place)

    def drop(self, name: str) -> None:
        queue = self._flying_in.pop(name, None)
        if queue is not None:
            del self.flying[queue][name]
        entry = self.entries.pop(name, None)
        if entry is None:
            return
        line = self.lines[entry.job.queue]
        line.remove(entry.place, entry.job)
        if not line.places:
            del self.lines[entry.job.queue]
        under = self.under[policy_of(entry.job)]
        del under[name]
        if not under:
            del self.under[policy_of(entry.job)]
        for one in _in_groups(entry):
            where, what = one.key
            self._leave(self.groups[one.lacks, where], what, entry.place)
            if not self.groups[one.lacks, where]:
                del self.groups[one.lacks, where]

    @staticmethod
    def _leave(lists: dict[str, SortedList[Place]], name: str, place: Place) -> None:
        lists[name].remove(place)
        if not lists[name]:
            del lists[name]

    def reorder(self) -> None:
        """Queues changed: what orders their jobs may have."""
        for entry in list(self.entries.values()):
            if entry.place != self.place(entry.job):
                self.put(entry.job)

    def line(self, queue: str) -> Iterator[WaitingJob]:
        known = self.lines.get(queue)
        return (self.entries[place[-1]] for place in known.places) if known else iter(())

    def _wake(self, job: str) -> None:
        self.woken.pop(job, None)
        self.woken[job] = None
        if len(self.woken) > _WOKEN:
            del self.woken[next(iter(self.woken))]

    def found_none(self, job: str, freed: int, code: Code = Code.WAITING_FOR_ROOM) -> None:
        """The scheduler had no room for this job when room had been freed so often; with NoBatchRoom, none in batch
        resources."""
        entry = self.entries.get(job)
        if entry is not None and code is Code.NO_BATCH_ROOM:
            entry = entry.batch
        if entry is None or entry.lacks not in (ROOM, BATCH_ROOM):
            return
        shape = entry.key[1]
        self.asked.pop(shape, None)
        self.asked[shape] = freed
        if len(self.asked) > _ASKED:
            del self.asked[next(iter(self.asked))]

    def heads(self, lacks: str, node: str | None = None) -> list[WaitingJob]:
        """The first job of every group that lacks this (at that quota node), in order of place."""
        nodes = [where for what, where in self.groups if what == lacks] if node is None else [node]
        groups = (places for one in nodes for places in self.groups.get((lacks, one), {}).values())
        found = [self._entry(lacks, places[0][-1]) for places in groups]
        return sorted(found, key=lambda entry: entry.place)

    def group(self, entry: WaitingJob) -> Iterator[WaitingJob]:
        """The jobs that wait for the same thing as this one, in order."""
        where, what = entry.key
        places = self.groups.get((entry.lacks, where), {}).get(what, ())
        return (self._entry(entry.lacks, place[-1]) for place in places)

    def _entry(self, lacks: str, name: str) -> WaitingJob:
        entry = self.entries[name]
        return entry.batch if lacks == BATCH_ROOM and entry.batch is not None else entry


def _in_groups(entry: WaitingJob) -> Iterator[WaitingJob]:
    """What it stands in groups for."""
    if entry.lacks:
        yield entry
    if entry.batch is not None:
        yield entry.batch
