"""queue as a value: one owner at a time, its waiting jobs made from the rows at every start."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Add, Heard, Put, Step
from fairway.domain.job import Job
from fairway.domain.policy_terms import Changed
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.charge import Share, given_back_by
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import scale
from fairway.queue.decide import Hears, OfJobs, decide
from fairway.queue.freed_room import taken_of
from fairway.queue.policy_changes import Policies
from fairway.queue.view import SERVICE, SWEEP, QueueBegins, Sweep
from fairway.queue.waiting_jobs import WaitingJobs
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import ReadRows, Wanted
from fairway.runtime.record.senders import place_of, place_of_cluster
from fairway.runtime.service import Consumer, LocalMessages, Service
from fairway.runtime.views.jobs import JobsMemory, requests_of
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, flow
from fairway.wire import jobs as wire
from fairway.workloads.settings.queues import KIND

_job = msgspec.json.Decoder(Job).decode
_share = msgspec.json.Decoder(Share).decode
_PIECE = 2_000
_SWEEP_EVERY_MS = 10_000


class QueueView(JobsMemory[object]):
    """The waiting jobs, quota usage, and the last word on each cluster's room."""

    def __init__(self, catalog: Catalog, meter: Meter) -> None:
        super().__init__()
        self._catalog = catalog
        self._meter = meter
        self.queued = WaitingJobs(self._by_time)
        self.usage: dict[str, int] = {}
        self.owed: dict[str, Share] = {}
        self.room: dict[str, fleet.Freed] = {}
        self.freed = 0
        self.all_known = False
        self._counted: dict[str, set[str]] = {}
        self._doubtful: set[str] = set()
        self._unread: list[str] = []

    def begin(self) -> None:
        super().begin()
        self.queued = WaitingJobs(self._by_time)
        self.room = {}
        self._doubtful = set()
        self._counted = {}
        self._unread = []

    def first(self, found: ReadRows | None) -> Wanted | None:
        """Every live job: those that wait or are on their way are in `queued`."""
        if found is None:
            return Wanted(whole=(decision.LIVE,))
        if decision.LIVE in found.whole:
            self._unread = sorted(found.whole[decision.LIVE])
        for row in found.rows.values():
            self.queued.put(_job(row.data))
        names = self._unread[:_PIECE]
        del self._unread[:_PIECE]
        return Wanted(rows={decision.JOBS: names}) if names else None

    def _by_time(self, queue: str) -> bool:
        spec = self.queues.get(queue)
        return spec is not None and spec.by_time

    @property
    def tree(self) -> QuotaNode | None:
        return self._catalog.tree

    @property
    def queues(self) -> Mapping[str, QueueSpec]:
        return self._catalog.queues

    @property
    def policies(self) -> Policies:
        return self._catalog.policies.by_title

    def clusters_of(self, namespace: str) -> frozenset[str]:
        return self._catalog.tenancy(namespace).clusters

    def wants(self, heard: Sequence[Heard[object]], now: int) -> Wanted:
        wanted = super().wants(heard, now)
        wanted.whole = (decision.QUOTA, decision.FREED)
        for one in heard:
            if key := given_back_by(one):
                wanted.add(decision.OWED, key)
        for name in self._doubtful:
            wanted.add(decision.JOBS, name)
        return wanted

    def take(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        super().take(found, heard, now)
        self.usage = found.counters.get(decision.QUOTA, {})
        owed = ((key, row) for (table, key), row in found.rows.items() if table == decision.OWED)
        self.owed = {key: _share(row.data) for key, row in owed}
        freed = found.counters.get(decision.FREED, {})
        self.freed = sum(freed.values())
        for name in self._doubtful.difference(self.jobs):
            self.queued.drop(name)
            self.queued.heading.pop(name, None)
        self._doubtful = set()
        for job in self.jobs.values():
            self.queued.put(job)
        for one in heard:
            self._note_room(one.message)
        if any(isinstance(one.message, Changed) and one.message.kind == KIND for one in heard):
            self.queued.reorder()
        self.all_known = self.room.keys() >= freed.keys() - {""}

    def _note_room(self, message: object) -> None:
        """Room as last heard of, less what was surely reserved since: never less than there is."""
        if isinstance(message, fleet.Freed):
            known = self.room.get(message.cluster)
            if known is None or message.at >= known.at:
                self.room[message.cluster] = message
                self._counted[message.cluster] = set()
        elif isinstance(message, wire.Queue) and message.why is not None:
            self.queued.found_none(message.job, message.freed)
        elif isinstance(message, wire.Reserved):
            self._note_reserved(message)

    def _note_reserved(self, message: wire.Reserved) -> None:
        """Counted once, however often it is heard; and not if the room may have been told after it was taken."""
        room = self.room.get(message.cluster)
        job = self.jobs.get(message.job)
        key = f"{message.job}/{message.attempt}"
        if room is None or job is None or message.at <= room.at or key in self._counted[message.cluster]:
            return
        self._counted[message.cluster].add(key)
        for slot in message.slots:
            self.room[message.cluster] = room = taken_of(room, scale(requests_of(job)[slot.pods], slot.count))

    def apply(self, step: Step) -> None:
        super().apply(step)
        for write in step.writes:
            if isinstance(write, Put) and write.table == decision.JOBS:
                self.queued.put(write.value)
            elif isinstance(write, Add) and write.table == decision.QUOTA:
                self.usage[write.key] = self.usage.get(write.key, 0) + write.amount
            elif write.table == decision.OWED:
                self.owed.pop(write.key, None)
        for say in step.events:
            if isinstance(say.message, wire.Dequeued) and say.message.woken_by == SWEEP:
                self._meter.sweep_wakes.labels(SERVICE).inc()
            if isinstance(say.message, wire.Dequeued) and say.message.room:
                self.queued.heads_for(self.jobs[say.message.job], say.message.room)

    def refused(self, step: Step) -> None:
        self._doubtful.update(
            write.key for write in step.writes if isinstance(write, Put) and write.table == decision.JOBS
        )


_jobs: Consumer[OfJobs] = Consumer(*flow.consumer(SERVICE), msgspec.json.Decoder(wire.Message), place_of)
_freed: Consumer[fleet.Freed] = Consumer(
    *flow.consumer(f"{SERVICE}-freed"), msgspec.json.Decoder(fleet.Freed), place_of_cluster
)


def service(catalog: Catalog, meter: Meter, views: list[QueueView]) -> Service[QueueView, Hears]:
    """`views` receives the view once the service runs, for whoever asks for a job's place."""

    def view() -> QueueView:
        views.append(QueueView(catalog, meter))
        return views[-1]

    meter.sweep_wakes.labels(SERVICE)  # 0 is what an operator wants to see

    async def beside(inbox: LocalMessages) -> None:
        def news(changed: Changed) -> None:
            if changed.kind != "Namespace":  # that says which pods may be there, and is asked at the door
                inbox.put(changed)

        catalog.heard.append(news)
        await asyncio.Event().wait()

    return Service(
        SERVICE,
        (_jobs, _freed),
        decide,
        view,
        single=True,
        ticks=((Sweep(), _SWEEP_EVERY_MS),),
        begin=QueueBegins(),
        beside=beside,
    )
