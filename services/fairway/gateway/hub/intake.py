"""The hub's jobs on their way in: each object once, when a policy selects it; and out again when it is deleted."""

import asyncio
import contextlib
from collections.abc import Sequence

import msgspec
import structlog

from fairway.domain import decision
from fairway.domain.job import Job, State
from fairway.domain.submission import cancellation
from fairway.domain.tenancy.profile import SystemNamespaces
from fairway.gateway.http.answers import Slim
from fairway.gateway.hub import objects as hub_objects
from fairway.gateway.hub.events import Announcer
from fairway.gateway.hub.objects import WATCHED, HubObject, hub_object, of_hub
from fairway.gateway.hub.orphans import orphaned
from fairway.gateway.hub.pending_updates import PendingUpdates
from fairway.gateway.hub.publishing import Post
from fairway.gateway.hub.ready_conditions import Conditions
from fairway.gateway.hub.settings import HubSettings
from fairway.gateway.hub.submission_delay import SubmissionDelay
from fairway.gateway.hub.submitter import Submitter
from fairway.gateway.hub.waiting_objects import WaitingObjects
from fairway.gateway.reader import Reader, decoded
from fairway.gateway.submission_limiter import Limiter, in_turn
from fairway.runtime.cluster_port import Change, Cluster, ClusterRefused
from fairway.runtime.ports import Unreachable, Wanted, World
from fairway.runtime.retry import until_reached
from fairway.runtime.vital_tasks import vital
from fairway.workloads.kinds.registry import KINDS

log = structlog.get_logger()
_MOST = 256
_RETRY_MS = 250

# Ends in which nothing of the job can be in a cluster.
NOWHERE = frozenset({State.CANCELLED, State.REJECTED})


class Intake:
    """`present` are the uids of the hub's jobs, `shown` their statuses; `told` is set when every kind was listed."""

    def __init__(
        self, world: World, hub: Cluster, updates: PendingUpdates, limiter: Limiter, system: SystemNamespaces
    ) -> None:
        self._world = world
        self._hub = hub
        self._updates = updates
        self._limiter = limiter
        self._rows = Reader(world.store)
        self._post = Post(world)
        self._room = WaitingObjects()
        self.announcer = Announcer(hub, world.clock)
        self._conditions = Conditions(hub, world.clock)
        self._settings = HubSettings(world, self._room, self.announcer, self._conditions, system)
        self._submitter = Submitter(world, hub, self._room, updates, self._settings)
        self._delay = SubmissionDelay(self._room.named, self._settings.in_force)
        self._left = {"settings": set(WATCHED), "jobs": set(KINDS)}
        self._settled = asyncio.Event()
        self.told = asyncio.Event()
        self._news = asyncio.Event()
        self._ready: dict[str, HubObject] = {}
        self._gone: dict[str, HubObject] = {}
        self.present: dict[str, HubObject] = {}
        self.shown = dict[str, bytes]()
        self._shown = set[str]()

    async def run(self) -> None:
        clock = self._world.clock
        await until_reached("gateway", clock, self._settings.recall)
        async with asyncio.TaskGroup() as group:
            group.create_task(vital("intake: settings.run", self._settings.run()))
            group.create_task(vital("intake: announcer.run", self.announcer.run()))
            group.create_task(vital("intake: conditions.run", self._conditions.run()))
            for kind in sorted(WATCHED):
                group.create_task(vital("intake: watch_settings", self._watch_settings(kind)))
            await self._settled.wait()
            for kind in sorted(KINDS):
                group.create_task(vital("intake: watch_jobs", self._watch_jobs(kind)))
            group.create_task(vital("intake: work", self._work()))
            await self.told.wait()
            group.create_task(vital("intake: missed", until_reached("gateway", clock, self._missed, 1)))

    async def _watch_settings(self, kind: str) -> None:
        async for change in self._hub.watch(kind):
            for one in await self._settings.take(change):
                self._updates.unclaimed.pop(one.uid, None)
                self._submit_later(one)
            if change.synced:
                self._left["settings"].discard(kind)
                if not self._left["settings"]:
                    self._settled.set()

    async def _watch_jobs(self, kind: str) -> None:
        async for change in self._hub.watch(kind):
            if change.synced:
                self._left["jobs"].discard(kind)
                if not self._left["jobs"]:
                    self.told.set()
            else:
                self.see(change)

    def see(self, change: Change) -> None:
        """One change of one job object; what follows from it is done in batches by `_work`."""
        one = hub_object(change.kind, change.manifest)
        known = self.present.get(one.uid)
        if known is not None and known.kind != one.kind and not hub_objects.as_written(one):
            return  # the hub serves it in another version, too
        if change.gone or hub_objects.leaving(one):
            self._see_gone(one)
        elif not hub_objects.child_of_job(one):
            # Only the name is kept of what was handed on: a hundred thousand manifests would be a gigabyte.
            self.present[one.uid] = HubObject(one.kind, one.namespace, one.name, one.uid, {})
            self._see_status(one)
            if one.uid in self._room.waiting:
                self._room.leave(one.uid)
            elif known is not None and one.uid not in self._ready:
                return
            self._submit_later(one)

    def _see_gone(self, one: HubObject) -> None:
        if self.present.pop(one.uid, None) is None:
            return
        for known in (self._ready, self.shown, self._updates.unclaimed, self._limiter.kept):
            known.pop(one.uid, None)
        self._shown.discard(one.uid)
        self._delay.submitted(one)
        self._updates.gone[one.uid] = one
        if one.uid in self._room.waiting:
            self._room.leave(one.uid)
        else:
            self._gone[one.uid] = one
            self._news.set()

    def _see_status(self, one: HubObject) -> None:
        shown = msgspec.json.encode(one.manifest["status"]) if one.manifest.get("status") else b""
        if shown and shown != self.shown.get(one.uid):
            self.shown[one.uid] = shown
            self._shown.add(one.uid)

    def take_shown(self) -> set[str]:
        """The uids of objects whose status changed since the last call."""
        shown = self._shown
        self._shown = set()
        return shown

    def job(self, uid: str) -> str:
        """The id of the job that stands for a present object."""
        return self._submitter.job(self.present[uid])

    def still_unclaimed(self) -> None:
        """Has those told that wait for a policy or another setting."""
        for one in self._room.waiting.values():
            self._submitter.unclaimed(one)

    def _submit_later(self, one: HubObject) -> None:
        self._ready[one.uid] = one
        self._news.set()

    async def _work(self) -> None:
        wait_ms: int | None = None
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if wait_ms is None else wait_ms / 1000):
                    await self._news.wait()
            self._news.clear()
            try:
                await self._cancel_gone()
                wait_ms = await self._submit_ripe()
            except Unreachable as error:
                log.warning("waiting", service="gateway", cause=str(error))
                wait_ms = _RETRY_MS

    async def _submit_ripe(self) -> int | None:
        """Submits those that nothing is awaited for; how long until the next of the others is ripe (ms)."""
        while True:
            now = self._world.clock.now()
            changed = self._settings.changed_at
            ripe = []
            until = []
            for one in self._ready.values():
                at = max(self._delay.ripe_at(one, changed, now), self._limiter.until(one.namespace))
                ripe.append(one) if at <= now else until.append(at)
            if not ripe:
                return max(min(until) - now, 1) if until else None
            await self._submit(in_turn(ripe)[:_MOST])

    async def _submit(self, objects: Sequence[HubObject]) -> None:
        """An object may change meanwhile, but it is submitted as it was first seen whole. Those that have to wait are
        no longer ready before anything is said: a policy that comes while others are said makes them ready again."""
        for one in objects:
            self._ready.pop(one.uid, None)
        try:
            words, kept = await self._limiter.let_in(await self._submitter.words(objects), self._updates)
            await self._post.say(words)
        except Unreachable:
            self._ready |= {one.uid: one for one in objects if one.uid in self.present}
            raise
        self._ready |= {one.uid: one for one in kept if one.uid in self.present}
        for one in objects:
            self._delay.submitted(one)

    async def refused(self, one: HubObject) -> None:
        """Its job was refused: from now on a change of it is a new submission. It may have changed already."""
        manifest = await self._hub.get(one.kind, one.namespace, one.name)
        if manifest is not None and manifest["metadata"].get("uid") == one.uid and one.uid in self.present:
            self._submit_later(hub_object(one.kind, manifest))

    async def _cancel_gone(self) -> None:
        """The status of the object does not count here: it may be that of an attempt before."""
        if not self._gone:
            return
        names = await self._submitter.jobs_of(list(self._gone.values()))
        found = await self._rows.read(Wanted(rows={decision.JOBS: list(names)}))
        # A job that ended well or badly still has its object in a member: that goes too.
        over = {key for (_, key), row in found.rows.items() if decoded(row.data, Slim).state in NOWHERE}
        now = self._world.clock.now()
        live = {name: one for name, one in names.items() if name not in over}
        said = [cancellation(name, one.namespace, of_hub(one.namespace, one.uid), now) for name, one in live.items()]
        await self._post.say(said)
        for one in names.values():
            self._gone.pop(one.uid, None)

    async def _missed(self) -> None:
        """Live jobs whose object was deleted while nobody looked."""
        async for job in self._rows.live_jobs():
            await self.check(job)

    async def check(self, job: Job) -> None:
        """Cancels a job whose object is gone from the hub. Raises Unreachable."""
        if not self.told.is_set():
            return
        try:
            gone = await orphaned(self._hub, job, self.present)
        except ClusterRefused as error:
            log.warning("object not looked up", job=job.id, cause=str(error))
            return
        if gone:
            log.info("its object is gone from the hub", job=job.id)
            who = of_hub(job.tenant, job.hub_uid)
            await self._post.say([cancellation(job.id, job.tenant, who, self._world.clock.now())])
