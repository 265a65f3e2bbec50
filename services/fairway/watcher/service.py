"""watcher as a value, with the watches beside it that tell what the member clusters show."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
import structlog

from fairway.domain import decision
from fairway.domain.decision import Heard, Step
from fairway.domain.job import Job, State
from fairway.runtime.inbox import Inbox
from fairway.runtime.members import Members
from fairway.runtime.ports import Change, Cluster, ClusterRefused, Found, Store, Unreachable, Wanted
from fairway.runtime.service import Ear, Service
from fairway.runtime.views import JobsView
from fairway.watcher import final
from fairway.watcher.decide import Observed, decide
from fairway.watcher.missing import SERVICE, Emptied, Late, Listed
from fairway.watcher.reflect import Mirror
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.workloads.render import ATTEMPT_LABEL, JOB_LABEL

_LATE_EVERY_MS = 500
_LOOK_EVERY_S = 3
_EMPTY_EVERY_S = 2
log = structlog.get_logger()


class WatcherView(JobsView):
    """Jobs, with the start deadlines of those dispatched, and which jobs the ledger has in which cluster. What is seen
    of a job is shown to the mirror with the job's row: only the present attempt speaks for it."""

    def __init__(self, mirror: Mirror | None = None) -> None:
        super().__init__()
        self._mirror = mirror
        self.held: dict[str, set[str]] = {}
        self.overdue: list[str] = []
        self._deadlines: dict[str, int] = {}
        self._unread: set[str] = set()
        self._version = 0

    async def load(self, store: Store) -> None:
        await super().load(store)
        self.held.clear()
        self._deadlines.clear()
        self._unread.clear()
        self._version = 0

    def wants(self, heard: Sequence[Heard], now: int) -> Wanted:
        wanted = super().wants(heard, now)
        self.overdue = []
        for name in self._unread:
            wanted.add(decision.JOBS, name)
        for one in heard:
            if isinstance(one.message, Late):
                self.overdue = [name for name, until in self._deadlines.items() if until <= now]
                for name in self.overdue:
                    wanted.add(decision.JOBS, name)
            elif isinstance(one.message, Listed | Emptied):
                for name in self.held.get(one.message.cluster, ()):
                    wanted.add(decision.JOBS, name)
        wanted.since, wanted.follow = self._version, ("ledger/",)
        return wanted

    def refresh(self, found: Found, heard: Sequence[Heard], now: int) -> None:
        super().refresh(found, heard, now)
        # Whoever begins on a working set has not heard when those were dispatched that are in it already.
        self._unread.clear()
        if not self._version:
            self._unread.update(key.partition("/")[0] for table, key, row in found.changes if _held(table) and row)
        self._version = found.version
        for table, key, row in found.changes:
            kind, _, cluster = table.partition("/")
            if kind == "ledger" and row is not None:
                self.held.setdefault(cluster, set()).add(key.partition("/")[0])
            elif kind == "ledger":
                self.held.get(cluster, set()).discard(key.partition("/")[0])
        for job in self.jobs.values():
            self._note(job)
        if self._mirror is not None:
            self._show(self._mirror, heard)

    def _show(self, mirror: Mirror, heard: Sequence[Heard]) -> None:
        for one in heard:
            seen = one.message
            job = self.jobs.get(seen.job) if isinstance(seen, Observed) else None
            if job is not None and not seen.gone:
                mirror.saw(job, seen.attempt, seen.cluster, seen.manifest)

    def apply(self, step: Step) -> None:
        super().apply(step)
        for write in step.writes:
            if isinstance(write, decision.Put) and write.table == decision.JOBS:
                self._note(write.value)

    def _note(self, job: Job) -> None:
        if job.state is State.DISPATCHED and job.spec is not None:
            self._deadlines[job.id] = job.since + job.spec.start_timeout
        else:
            self._deadlines.pop(job.id, None)


def _held(table: str) -> bool:
    return table.startswith("ledger/")


class Eyes:
    """Watches every served kind of every cluster, and puts what it sees before the service."""

    def __init__(self, members: Members, mirror: Mirror | None = None) -> None:
        self._members, self._mirror = members, mirror

    async def __call__(self, inbox: Inbox) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._members.follow(partial(self._see, inbox)))
            group.create_task(self._members.follow(partial(self._empty, inbox), facts=True))
            if self._mirror is not None:
                group.create_task(self._mirror.run())

    async def _see(self, inbox: Inbox, cluster: Cluster) -> None:
        """Everything that is done for one member; it all ends when the member goes."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._look(group, inbox, cluster))

    async def _empty(self, inbox: Inbox, cluster: Cluster) -> None:
        """Again and again: a job that was on its way there is dispatched first."""
        while self._members.facts(cluster.name).emptied:
            inbox.put(Emptied(cluster=cluster.name))
            await inbox.pause(_EMPTY_EVERY_S)

    async def _look(self, group: asyncio.TaskGroup, inbox: Inbox, cluster: Cluster) -> None:
        """Watches what the cluster serves; asks again, for it may be away, or get another operator."""
        watched: set[str] = set()
        while True:
            try:
                served = set(await cluster.served())
            except (Unreachable, ClusterRefused) as error:
                log.warning("waiting", service=SERVICE, cluster=cluster.name, cause=str(error))
                served = set()
            for kind in sorted(served - watched):
                group.create_task(self._watch(inbox, cluster, kind))
            watched |= served
            await inbox.pause(_LOOK_EVERY_S if watched else 1)

    async def _watch(self, inbox: Inbox, cluster: Cluster, kind: str) -> None:
        keys: set[str] = set()
        async for change in cluster.watch(kind, JOB_LABEL):
            if change.synced:
                inbox.put(Listed(cluster=cluster.name, kind=kind, keys=frozenset(keys)))
                continue
            seen = observed(cluster.name, change)
            if seen is None:
                continue
            (keys.discard if seen.gone else keys.add)(f"{seen.job}/{seen.attempt}")
            inbox.put(seen)


def observed(cluster: str, change: Change) -> Observed | None:
    """What a change says of one of our attempts; None for an object without our labels."""
    meta: dict[str, Any] = change.manifest.get("metadata") or {}
    labels = meta.get("labels") or {}
    if JOB_LABEL not in labels or not str(labels.get(ATTEMPT_LABEL, "")).isdigit():
        return None
    head = {
        "job": labels[JOB_LABEL],
        "tenant": change.namespace,
        "attempt": int(labels[ATTEMPT_LABEL]),
        "cluster": cluster,
    }
    return Observed(**head, manifest=change.manifest, gone=change.gone)


def service(eyes: Eyes, mirror: Mirror | None = None) -> Service:
    ear = Ear(subjects.JOBS, SERVICE, ("fairway.job.dispatched.>",), msgspec.json.Decoder(wire.Message))
    return Service(SERVICE, (ear,), decide, lambda: WatcherView(mirror), ticks=((Late(), _LATE_EVERY_MS),), beside=eyes)


def returning(mirror: Mirror) -> Service:
    """What the record calls an end reaches the hub's objects, and is acknowledged when it is there."""
    heard = tuple(f"fairway.job.{verb}.>" for verb in ("failed", "lost", "rejected", "cancelled"))
    ear = Ear(subjects.JOBS, final.SERVICE, heard, msgspec.json.Decoder(wire.Message))
    return Service(final.SERVICE, (ear,), final.decide, JobsView, act=mirror, most=64)
