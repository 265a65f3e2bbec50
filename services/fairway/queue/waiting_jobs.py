"""The waiting jobs in memory, in order, by queue and by what they lack. Made from rows alone, so never the truth."""

from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct
from sortedcontainers import SortedList

from fairway.domain.events import message_id
from fairway.domain.job import Job, State
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.charge import request
from fairway.domain.recorded_verdicts import reopening
from fairway.domain.resources import Resources, add
from fairway.queue.metrics.counted_line import CountedLine, Place
from fairway.wire.reasons import Code, Reason

_encode = msgspec.json.Encoder().encode

QUOTA = "quota"
ROOM = "room"
REMOVAL = "removal"
NOTHING_YET = ""
HELD = "held"
# No room that is freed in a cluster of the fleet helps these.
_HOPELESS = (Code.NO_CLUSTER_EVER, Code.UNKNOWN_CLUSTER)
_NO_ROOM = (Code.WAITING_FOR_ROOM, *_HOPELESS)
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
        if before is not None and before.lacks == ROOM and job.state is State.DEQUEUED:
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
        self.heading[job.id] = (cluster, least(job)[0])

    def place(self, job: Job) -> Place:
        return place_of(job, self._queue(job.queue))

    def _add(self, job: Job) -> None:
        entry = entry_of(job, self.place(job))
        self.entries[job.id] = entry
        line = self.lines.get(job.queue) or self.lines.setdefault(job.queue, CountedLine())
        line.add(entry.place, job)
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
        line = self.lines[entry.job.queue]
        line.remove(entry.place, entry.job)
        if not line.places:
            del self.lines[entry.job.queue]
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
        found = [self.entries[places[0][-1]] for places in groups]
        return sorted(found, key=lambda entry: entry.place)

    def group(self, entry: WaitingJob) -> Iterator[WaitingJob]:
        """The jobs that wait for the same thing as this one, in order."""
        where, what = entry.key
        return (self.entries[place[-1]] for place in self.groups.get((entry.lacks, where), {}).get(what, ()))


def policy_of(job: Job) -> str:
    return job.spec.policy if job.spec else ""


def place_of(job: Job, queue: QueueSpec) -> Place:
    """The priority of its queue first, then its own, then the first enqueue time, which attempts do not change, then
    the id."""
    priority = job.spec.priority if job.spec and not queue.by_time else 0
    return (-queue.priority, -priority, job.enqueued_at, job.id)


def entry_of(job: Job, place: Place) -> WaitingJob:
    lacks = lacks_of(job)
    asks = request(job)
    key = ("", "")
    if lacks == QUOTA:
        key = (quota_told(job), message_id(sorted(asks.items()), job.leaf))
    elif lacks == ROOM:
        key = ("", shape_of(job))
    return WaitingJob(job, place, asks, lacks, key, least(job) if lacks == ROOM else ({}, {}))


def room_reason(job: Job) -> Reason | None:
    """What the scheduler has said last, when it had no room for the job."""
    return next((one for one in job.waits_for if one.code in _NO_ROOM), None)


def quota_told(job: Job) -> str:
    """The node of the quota tree that it was told to be full."""
    if job.why is None:
        return ""
    return next((one.field for one in job.waits_for if one.code is Code.WAITING_FOR_QUOTA), "")


def lacks_of(job: Job) -> str:
    """One that was behind others is looked at when its turn comes, whatever its quota was like then."""
    if job.held or job.removing:
        return HELD if job.held else REMOVAL
    codes = [one.code for one in job.waits_for]
    if any(one in _NO_ROOM for one in codes):
        return ROOM
    return QUOTA if Code.WAITING_FOR_QUOTA in codes and Code.BEHIND_HEAD not in codes else NOTHING_YET


def steps_aside(entry: WaitingJob) -> bool:
    """In a blocking queue it does not stand in the way of those behind it: it is held, its last attempt is still being
    removed, or no cluster of the fleet can ever hold it."""
    if entry.lacks in (HELD, REMOVAL):
        return True
    room = room_reason(entry.job) if entry.lacks == ROOM else None
    return room is not None and room.code in _HOPELESS


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
