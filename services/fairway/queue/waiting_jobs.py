"""The waiting jobs in memory, in order, by queue and by what they lack. Made from rows alone, so never the truth."""

from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct
from sortedcontainers import SortedList

from fairway.domain.events import message_id
from fairway.domain.job import Job, State
from fairway.domain.quota.charge import request
from fairway.domain.recorded_verdicts import reopening
from fairway.domain.resources import Resources, add
from fairway.wire.reasons import Code

Place = tuple[int, int, str]
_encode = msgspec.json.Encoder().encode

QUOTA = "quota"
ROOM = "room"
REMOVAL = "removal"
NOTHING_YET = ""
_LACKS = {
    Code.WAITING_FOR_QUOTA: QUOTA,
    Code.WAITING_FOR_ROOM: ROOM,
    Code.NO_CLUSTER_EVER: ROOM,
}
# How many of the jobs that freed room has woken last are remembered.
_WOKEN = 10_000
# Of how many shapes it is remembered that there was no room; of another one is asked once more.
_ASKED = 10_000


class WaitingJob(Struct):
    """A waiting job. `lacks` is what it waits for; `key` groups the jobs that one answer serves: those blocked at a
    quota node that ask the same, those of the same shape that found no room."""

    job: Job
    place: Place
    request: Resources
    lacks: str
    key: tuple[str, str]
    least: tuple[Resources, Resources]


class WaitingJobs:
    """`lines` has every waiting job of a queue in its order; `groups` the blocked ones by what would serve them, those
    of a quota node together;
    `under` those of each policy; `flying` those dequeued and not yet reserved, by queue. `asked` is how often room had
    been freed anywhere when the scheduler last had none for a shape; `woken` are jobs that freed room let go while
    others were passed over; `heading` are those of them that are on the way, with the cluster whose room it was and
    what they ask for."""

    def __init__(self, by_time: Callable[[str], bool] = lambda queue: False) -> None:
        """`by_time` says of which queues enqueue time alone is the order."""
        self._by_time = by_time
        self.entries: dict[str, WaitingJob] = {}
        self.lines: dict[str, SortedList[Place]] = {}
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
        if before is not None and before.lacks == ROOM and job.state is State.DEQUEUED:
            self._wake(job.id)
        self.drop(job.id)
        if job.state in (State.DEQUEUED, State.PLACED):
            self.goes(job.queue, self._place(job))
            return
        self.heading.pop(job.id, None)
        if job.state is State.QUEUED:
            self._add(job)

    def goes(self, queue: str, place: Place) -> None:
        """The job of this place in the queue is on its way."""
        self.flying.setdefault(queue, {})[place[2]] = place
        self._flying_in[place[2]] = queue

    def heads_for(self, job: Job, cluster: str) -> None:
        """It was let go for the freed room of a cluster."""
        self.heading[job.id] = (cluster, least(job)[0])

    def _place(self, job: Job) -> Place:
        return place_of(job, self._by_time(job.queue))

    def _add(self, job: Job) -> None:
        entry = entry_of(job, self._place(job))
        self.entries[job.id] = entry
        self.lines.setdefault(job.queue, SortedList()).add(entry.place)
        self.under.setdefault(policy_of(job), {})[job.id] = None
        if entry.lacks:
            where, what = entry.key
            self.groups.setdefault((entry.lacks, where), {}).setdefault(what, SortedList()).add(entry.place)

    def drop(self, name: str) -> None:
        queue = self._flying_in.pop(name, None)
        if queue is not None:
            del self.flying[queue][name]
        entry = self.entries.pop(name, None)
        if entry is None:
            return
        self._leave(self.lines, entry.job.queue, entry.place)
        under = self.under[policy_of(entry.job)]
        del under[name]
        if not under:
            del self.under[policy_of(entry.job)]
        if entry.lacks:
            where, what = entry.key
            self._leave(self.groups[entry.lacks, where], what, entry.place)
            if not self.groups[entry.lacks, where]:
                del self.groups[entry.lacks, where]

    @staticmethod
    def _leave(lists: dict, name: object, place: Place) -> None:  # type: ignore[type-arg]  # of either index
        lists[name].remove(place)
        if not lists[name]:
            del lists[name]

    def reorder(self) -> None:
        """Queues changed: what orders their jobs may have."""
        for entry in list(self.entries.values()):
            if entry.place != self._place(entry.job):
                self.put(entry.job)

    def line(self, queue: str) -> Iterator[WaitingJob]:
        return (self.entries[place[2]] for place in self.lines.get(queue, ()))

    def _wake(self, job: str) -> None:
        self.woken.pop(job, None)
        self.woken[job] = None
        if len(self.woken) > _WOKEN:
            del self.woken[next(iter(self.woken))]

    def found_none(self, job: str, freed: int) -> None:
        """The scheduler had no room for this job when room had been freed so often."""
        entry = self.entries.get(job)
        if entry is not None and entry.lacks == ROOM:
            self.asked.pop(entry.key[1], None)
            self.asked[entry.key[1]] = freed
            if len(self.asked) > _ASKED:
                del self.asked[next(iter(self.asked))]

    def heads(self, lacks: str, node: str | None = None) -> list[WaitingJob]:
        """The first job of every group that lacks this (at that quota node), in order of place."""
        nodes = [where for what, where in self.groups if what == lacks] if node is None else [node]
        groups = (places for one in nodes for places in self.groups.get((lacks, one), {}).values())
        found = [self.entries[places[0][2]] for places in groups]
        return sorted(found, key=lambda entry: entry.place)

    def group(self, entry: WaitingJob) -> Iterator[WaitingJob]:
        """The jobs that wait for the same thing as this one, in order."""
        where, what = entry.key
        return (self.entries[place[2]] for place in self.groups.get((entry.lacks, where), {}).get(what, ()))


def policy_of(job: Job) -> str:
    return job.spec.policy if job.spec else ""


def place_of(job: Job, by_time: bool = False) -> Place:
    """Priority first, then the first enqueue time, which attempts do not change, then the id."""
    priority = job.spec.priority if job.spec and not by_time else 0
    return (-priority, job.enqueued_at, job.id)


def entry_of(job: Job, place: Place) -> WaitingJob:
    lacks = lacks_of(job)
    asks = request(job)
    key = ("", "")
    if lacks == QUOTA:
        key = (job.why.field if job.why else "", message_id(sorted(asks.items()), job.leaf))
    elif lacks == ROOM:
        key = ("", shape_of(job))
    return WaitingJob(job, place, asks, lacks, key, least(job) if lacks == ROOM else ({}, {}))


def lacks_of(job: Job) -> str:
    if job.removing:
        return REMOVAL
    return _LACKS.get(job.why.code, NOTHING_YET) if job.why else NOTHING_YET


def steps_aside(entry: WaitingJob) -> bool:
    """In a blocking queue it does not stand in the way of those behind it."""
    why = entry.job.why
    return entry.lacks == REMOVAL or (why is not None and why.code is Code.NO_CLUSTER_EVER)


def retry_at(job: Job) -> int:
    """When the first cluster that is only avoided for a while may be tried again; 0 when there is none.

    The scheduler may have told something else of an avoided cluster, such as stale numbers: freed room does not wake
    the job as long as it avoids it, so the end of that counts as well."""
    lacks_room = lacks_of(job) == ROOM
    later = (until for until in job.avoid.values() if lacks_room and until > job.since)
    return min((*reopening(job).values(), *later), default=0)


def shape_of(job: Job) -> str:
    """Jobs of one shape get the same answer from the scheduler: same pods, same gang, same placement."""
    assert job.spec is not None, "a queued job was admitted"
    work = job.spec.workload
    avoid = sorted(job.avoid.items())
    asks = (work.kind, work.api_version, work.pod_sets, work.gang_minimum, job.spec.placement, avoid)
    return message_id(_encode(asks))


def least(job: Job) -> tuple[Resources, Resources]:
    """What the gang needs in all and what its largest pod needs of each: if a cluster has less, asking is vain."""
    assert job.spec is not None, "a queued job was admitted"
    work = job.spec.workload
    total: Resources = {}
    largest: Resources = {}
    for pods in work.pod_sets:
        if work.gang_minimum >= work.pods:
            total = add(total, pods.requests, pods.count)
        for name, amount in pods.requests.items():
            largest[name] = max(largest.get(name, 0), amount)
    return total, largest if work.gang_minimum >= work.pods else {}
