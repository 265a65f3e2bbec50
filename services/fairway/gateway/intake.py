"""The hub's jobs on their way in: each object once, when a policy selects it; and out again when it is deleted."""

import asyncio
import contextlib
from collections.abc import Sequence

import structlog

from fairway.domain import decision
from fairway.domain.decision import Say
from fairway.domain.job import Job, State
from fairway.domain.names import job_id
from fairway.gateway import hub_objects
from fairway.gateway.answers import Slim
from fairway.gateway.decide import HUB_CLIENT, Asked, cancellation, submission
from fairway.gateway.hub_events import Announcer, note_of
from fairway.gateway.hub_objects import SETTINGS, HubObject, cleaned, hub_object
from fairway.gateway.hub_settings import HubSettings
from fairway.gateway.post import Post
from fairway.gateway.reader import Reader, decoded
from fairway.gateway.settling import Settling
from fairway.gateway.waiting_room import WaitingRoom
from fairway.runtime.loop import World
from fairway.runtime.narrate import reason
from fairway.runtime.ports import Change, Cluster, ClusterRefused, Unreachable, Wanted
from fairway.wire import jobs as wire
from fairway.wire.reasons import Reason
from fairway.workloads.registry import KINDS

log = structlog.get_logger()
_MOST = 256
_RETRY_MS = 250
_WHO = "the hub: its object was deleted"

# Ends in which nothing of the job can be in a cluster.
NOWHERE = frozenset({State.CANCELLED, State.REJECTED})


class Intake:
    """`present` are the uids of the hub's jobs; `told` is set once every kind has been listed."""

    def __init__(self, world: World, hub: Cluster) -> None:
        self._world, self._hub = world, hub
        self._rows, self._post = Reader(world.store), Post(world)
        self._room, self.announcer = WaitingRoom(), Announcer(hub, world.clock)
        self._settings = HubSettings(world, self._room, self.announcer)
        self._settling = Settling(self._room.named, self._settings.in_force)
        self._left = {"settings": set(SETTINGS), "jobs": set(KINDS)}
        self._settled, self.told = asyncio.Event(), asyncio.Event()
        self._ready: dict[str, HubObject] = {}
        self._gone: dict[str, HubObject] = {}
        self._news = asyncio.Event()
        self.present: dict[str, HubObject] = {}

    async def run(self) -> None:
        await self._recalled()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.announcer.run())
            for kind in sorted(SETTINGS):
                group.create_task(self._watch_settings(kind))
            await self._settled.wait()
            for kind in sorted(KINDS):
                group.create_task(self._watch_jobs(kind))
            group.create_task(self._work())
            await self.told.wait()
            group.create_task(self._missed())

    async def _recalled(self) -> None:
        while True:
            try:
                return await self._settings.recall()
            except (Unreachable, OSError, TimeoutError) as error:
                log.warning("waiting", service="gateway", cause=str(error))
                await self._world.clock.sleep(0.5)

    async def _watch_settings(self, kind: str) -> None:
        async for change in self._hub.watch(kind):
            for one in await self._settings.take(change):
                self._ready[one.uid] = one
                self._news.set()
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
        known = one.uid in self.present
        if change.gone or hub_objects.leaving(one):
            if self.present.pop(one.uid, None) is None:
                return
            self._ready.pop(one.uid, None)
            if one.uid in self._room.waiting:
                self._room.leave(one.uid)
            else:
                self._gone[one.uid] = one
                self._news.set()
            return
        if hub_objects.child_of_job(one):
            return
        # Only the name is kept of what was handed on: a hundred thousand manifests would be a gigabyte.
        self.present[one.uid] = HubObject(one.kind, one.namespace, one.name, one.uid, {})
        if one.uid in self._room.waiting:
            self._room.leave(one.uid)
        elif known and one.uid not in self._ready:
            return
        if not hub_objects.ended(one):
            self._ready[one.uid] = one
            self._news.set()

    async def _work(self) -> None:
        wait_ms: int | None = None
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), None if wait_ms is None else wait_ms / 1000)
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
            now, changed = self._world.clock.now(), self._settings.changed_at
            ripe, until = [], []
            for one in self._ready.values():
                at = self._settling.ripe_at(one, changed, now)
                ripe.append(one) if at <= now else until.append(at)
            if not ripe:
                return max(min(until) - now, 1) if until else None
            await self._submit(ripe[:_MOST])

    async def _submit(self, objects: Sequence[HubObject]) -> None:
        known = await self._known(objects)
        words: list[Say] = []
        for one in objects:
            if one.uid not in known:
                words += self._word(one)
        await self._post.say(words)
        for one in objects:
            # The object may have changed meanwhile, but it is submitted as it was first seen whole.
            self._ready.pop(one.uid, None)
            self._settling.submitted(one)

    async def _known(self, objects: Sequence[HubObject]) -> set[str]:
        """Those that were submitted before, by this process or another: their client or their job has a row."""
        wanted = Wanted(rows={})
        for one in objects:
            wanted.add(decision.CLIENTS, f"{one.namespace}/{HUB_CLIENT}{one.uid}")
            wanted.add(decision.JOBS, job_of(one))
        found = {key for _, key in (await self._rows.read(wanted)).rows}
        return {
            one.uid for one in objects if not found.isdisjoint((f"{one.namespace}/{HUB_CLIENT}{one.uid}", job_of(one)))
        }

    def _word(self, one: HubObject) -> list[Say]:
        """Its submission; or nothing, and it waits for a policy."""
        policies = self._room.policy_for(one)
        if isinstance(policies, Reason):
            self._room.wait(one)
            self.announcer.say(note_of(one, policies.code.value, f"Waits for a policy: {reason(policies)}", ""))
            return []
        asked = Asked(cleaned(one.manifest), policies, f"{HUB_CLIENT}{one.uid}")
        ref = wire.HubRef(one.uid, KINDS[one.kind].plural)
        return [submission(asked, "hub", self._world.clock.now(), ref).say]

    async def _cancel_gone(self) -> None:
        """The status of the object does not count here: it may be that of an attempt before."""
        names = {job_of(one): one for one in self._gone.values()}
        found = await self._rows.read(Wanted(rows={decision.JOBS: list(names)}))
        # A job that ended well or badly still has its object in a member: that goes too.
        over = {key for (_, key), row in found.rows.items() if decoded(row.data, Slim).state in NOWHERE}
        now = self._world.clock.now()
        live = {name: one for name, one in names.items() if name not in over}
        await self._post.say([cancellation(name, one.namespace, _WHO, now) for name, one in live.items()])
        for one in names.values():
            self._gone.pop(one.uid, None)

    async def _missed(self) -> None:
        """Live jobs whose object was deleted while nobody looked."""
        while True:
            try:
                async for job in self._rows.live_jobs():
                    await self.check(job)
                return
            except Unreachable as error:
                log.warning("waiting", service="gateway", cause=str(error))
                await self._world.clock.sleep(1)

    async def check(self, job: Job) -> None:
        """Cancels a job whose object is gone from the hub. Raises Unreachable."""
        try:
            orphaned = await self._orphaned(job)
        except ClusterRefused as error:
            log.warning("object not looked up", job=job.id, cause=str(error))
            return
        if orphaned:
            log.info("its object is gone from the hub", job=job.id)
            await self._post.say([cancellation(job.id, job.tenant, _WHO, self._world.clock.now())])

    async def _orphaned(self, job: Job) -> bool:
        """Whether the object of a hub's job is gone for certain: the hub itself is asked."""
        if job.spec is None or job.spec.hub is None or job.ended or job.cancelling or not self.told.is_set():
            return False
        if job.spec.hub.uid in self.present:
            return False
        work = job.spec.workload
        kind = f"{work.kind}.{work.api_version}"
        if kind not in await self._hub.served():
            return False
        there = await self._hub.get(kind, work.namespace, work.name)
        return there is None or there["metadata"].get("uid") != job.spec.hub.uid


def job_of(one: HubObject) -> str:
    """The id of the job that stands for an object; admission derives the same."""
    return job_id(one.namespace, f"{HUB_CLIENT}{one.uid}", one.name)
