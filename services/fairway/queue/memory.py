"""What the queue remembers: who waits, what quota is used, and the last word on each cluster's room."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Add, Heard, Put, Step
from fairway.domain.job import Job
from fairway.domain.policy_terms import Changed
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.charge import Share, given_back_by
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources
from fairway.domain.tenancy.profile import Tenancy
from fairway.queue.policy_changes import Policies
from fairway.queue.preemption.active_jobs import ActiveJobs
from fairway.queue.view import SWEEP
from fairway.queue.waiting.clusters_room import ClustersRoom
from fairway.queue.waiting.waiting_jobs import WaitingJobs
from fairway.runtime.ports import ReadRows, Wanted
from fairway.runtime.service import Remembered
from fairway.runtime.views.jobs import JobsMemory
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.workloads.settings.queues import KIND

_job = msgspec.json.Decoder(Job).decode
_share = msgspec.json.Decoder(Share).decode
_PIECE = 2_000
_MOST_MOVED = 4_096
# A queue may have its priority from a class.
_ORDERING = (KIND, "PriorityClass")


class QueueMemory(JobsMemory[object]):
    """`sweep_wakes` counts the jobs that had been forgotten until the sweep found them."""

    settings: tuple[str, ...] = (
        "PropagationPolicy",
        "ClusterPropagationPolicy",
        "ElasticQuotaTree",
        "PriorityClass",
        "Queue",
        "TenantProfile",
        "Namespace",
        "Cluster",
        "Member",
    )

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self._catalog = catalog
        self.queued = WaitingJobs(self._queue)
        self._active = ActiveJobs()
        self._moved: dict[str, tuple[Job, Resources | None]] = {}
        self.usage: dict[str, int] = {}
        self.owed: dict[str, Share] = {}
        self.rooms = ClustersRoom()
        self.sweep_wakes = 0
        self._doubtful: dict[str, None] = {}
        self._unread: list[str] = []

    def begin(self) -> None:
        super().begin()
        self.queued = WaitingJobs(self._queue)
        self._active = ActiveJobs()
        self._moved = {}
        self.rooms = ClustersRoom()
        self._doubtful = {}
        self._unread = []

    def first(self, found: ReadRows | None) -> Wanted | None:
        """Every live job: those that wait or are on their way are in `queued`."""
        if found is None:
            return Wanted(whole=(decision.LIVE,))
        if decision.LIVE in found.whole:
            self._unread = sorted(found.whole[decision.LIVE])
        for row in found.rows.values():
            self._put(_job(row.data))
        names = self._unread[:_PIECE]
        del self._unread[:_PIECE]
        return Wanted(rows={decision.JOBS: names}) if names else None

    def _put(self, job: Job) -> None:
        """A job as its row says."""
        self.queued.put(job)
        entry = self.queued.entries.get(job.id)
        self._moved[job.id] = (job, entry.request if entry is not None else None)
        if job.claim is not None or job.id in self._active.until or len(self._moved) >= _MOST_MOVED:
            self._settle()

    def _settle(self) -> None:
        moved = self._moved.values()
        self._moved = {}
        for job, asks in moved:
            self._active.put(job, asks)

    @property
    def active(self) -> ActiveJobs:
        """Made up to date when somebody asks: most jobs go their way with nobody asking about their levels."""
        self._settle()
        return self._active

    @property
    def claiming(self) -> bool:
        return bool(self._active.claims)

    def _queue(self, name: str) -> QueueSpec:
        return self.queues.get(name) or QueueSpec(name)

    @property
    def room(self) -> Mapping[str, fleet.Freed]:
        return self.rooms.last

    @property
    def freed(self) -> int:
        return self.rooms.freed

    @property
    def all_known(self) -> bool:
        return self.rooms.all_known

    @property
    def tree(self) -> QuotaNode | None:
        return self._catalog.tree

    @property
    def queues(self) -> Mapping[str, QueueSpec]:
        return self._catalog.queues

    @property
    def policies(self) -> Policies:
        return self._catalog.policies.by_title

    def tenancy(self, namespace: str) -> Tenancy:
        return self._catalog.tenancy(namespace)

    def wants(self, heard: Sequence[Heard[object]], now: int) -> Wanted:
        wanted = super().wants(heard, now)
        wanted.whole = (decision.QUOTA, decision.FREED)
        for one in heard:
            if key := given_back_by(one):
                wanted.add(decision.OWED, key)
            if isinstance(one.message, fleet.Freed):
                for name in one.message.ready:
                    wanted.add(decision.JOBS, name)
        for name in self._doubtful:
            wanted.add(decision.JOBS, name)
        return wanted

    def take(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        super().take(found, heard, now)
        self.usage = found.counters.get(decision.QUOTA, {})
        owed = ((key, row) for (table, key), row in found.rows.items() if table == decision.OWED)
        self.owed = {key: _share(row.data) for key, row in owed}
        freed = found.counters.get(decision.FREED, {})
        self.rooms.freed = sum(freed.values())
        for name in self._doubtful:
            if name not in self.jobs:
                self.queued.drop(name)
                self.active.drop(name)
                self.queued.heading.pop(name, None)
        self._doubtful = {}
        for job in self.jobs.values():
            self._put(job)
        for one in heard:
            self._note_room(one.message)
        if any(isinstance(one.message, Changed) and one.message.kind in _ORDERING for one in heard):
            self.queued.reorder()
        self.rooms.all_known = self.room.keys() >= freed.keys() - {""}

    def _note_room(self, message: object) -> None:
        if isinstance(message, fleet.Freed):
            self.rooms.hear(message)
            for name in message.ready:
                if (job := self.jobs.get(name)) is not None:
                    self._active.freed(job, message.cluster)
        elif isinstance(message, wire.Queue) and message.why is not None:
            self.queued.found_none(message.job, message.freed, message.why.code)
        elif isinstance(message, wire.Reserved):
            self.rooms.reserve(message, self.jobs.get(message.job))

    def apply(self, step: Step) -> None:
        super().apply(step)
        for write in step.writes:
            if isinstance(write, Add):
                if write.table == decision.QUOTA:
                    self.usage[write.key] = self.usage.get(write.key, 0) + write.amount
            elif write.table == decision.JOBS:
                self._put(write.value)
            elif write.table == decision.OWED:
                self.owed.pop(write.key, None)
        for say in step.events:
            if isinstance(say.message, wire.Dequeued):
                self._goes(say.message)

    def _goes(self, message: wire.Dequeued) -> None:
        self.sweep_wakes += message.woken_by == SWEEP
        self.rooms.goes(message)
        if message.kept:
            self._active.ready.pop(message.job, None)  # if others came to its nodes, it is told anew
        elif message.room:
            self.queued.heads_for(self.jobs[message.job], message.room)

    def known_job(self, name: str) -> Job | None:
        entry = self.queued.entries.get(name)
        return entry.job if entry is not None else self.jobs.get(name)

    def refused(self, step: Step) -> None:
        for write in step.writes:
            if isinstance(write, Put) and write.table == decision.JOBS:
                self._doubtful[write.key] = None

    def remembered(self) -> Iterable[Remembered]:
        """Rows of jobs are in the record, and are only named."""
        queued = self.queued
        yield from (Remembered(decision.JOBS, name, one.job, one.job.rev) for name, one in queued.entries.items())
        for queue, places in queued.flying.items():
            yield from (Remembered("on the way", queue, place) for place in places.values())
        yield from self.active.remembered(queued.entries)
        yield from (Remembered("asked", shape, freed) for shape, freed in queued.asked.items())
        yield from (Remembered("woken", name, None) for name in queued.woken)
        yield from (Remembered("heading", name, where) for name, where in queued.heading.items())
        yield from self.rooms.remembered()
        yield from (Remembered("doubtful", name, None) for name in self._doubtful)

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        queued = self.queued
        match table:
            case decision.JOBS:
                self._put(_job(data))
            case "active" | "ready" | "left for":
                self.active.recall(table, key, data)
            case "on the way":
                queued.goes(key, tuple(msgspec.json.decode(data)))
            case "asked":
                queued.asked[key] = msgspec.json.decode(data, type=int)
            case "woken":
                queued.woken[key] = None
            case "heading":
                queued.heading[key] = msgspec.json.decode(data, type=tuple[str, Resources])
            case "room" | "counted" | "to kept":
                self.rooms.recall(table, key, data)
            case "doubtful":
                self._doubtful[key] = None
