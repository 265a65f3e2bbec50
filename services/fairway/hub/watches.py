"""What the hub shows, put before the service as messages: settings and what jobs refer to first, then bindings, then
schedules and jobs."""

import asyncio
from contextlib import aclosing
from itertools import count

import structlog

from fairway.hub.hub_writes import HubWrites
from fairway.hub.messages import (
    SERVICE,
    BindingSeen,
    BindingsListed,
    ComplaintsRead,
    ObjectSeen,
    ObjectsListed,
    RunsListed,
    ScheduleSeen,
    SettingSeen,
    SettingsListed,
    TemplateSeen,
)
from fairway.hub.telling.bindings import DIGEST, JOB_LABEL, KIND, change_of, stamps_of
from fairway.runtime.cluster_port import Change, Cluster, ClusterRefused
from fairway.runtime.ports import Bus, Unreachable
from fairway.runtime.service import LocalMessages
from fairway.runtime.views.settings import complaint
from fairway.wire import subjects
from fairway.workloads.hub.objects import WATCHED
from fairway.workloads.kinds.registry import KINDS, referred_kinds
from fairway.workloads.schedules.registry import RUNS, SCHEDULES

log = structlog.get_logger()
# An API that does not serve ResourceBindings is asked again this often (s).
_LOOK_AGAIN_S = 15.0
_AGAIN_S = 0.5


class HubWatches:
    """Runs beside the service, and begins anew with each working set."""

    def __init__(self, hub: Cluster, bus: Bus, writes: HubWrites) -> None:
        self._hub = hub
        self._bus = bus
        self._writes = writes
        self._places = count(1)

    async def __call__(self, inbox: LocalMessages) -> None:
        self._writes.served.clear()
        inbox.put(ComplaintsRead(await self._complaints(inbox)))
        settings = {kind: asyncio.Event() for kind in sorted(WATCHED)}
        templates = {kind: asyncio.Event() for kind in referred_kinds()}
        schedules = {kind: asyncio.Event() for kind in sorted(SCHEDULES)}
        jobs = {kind: asyncio.Event() for kind in sorted(KINDS)}
        async with asyncio.TaskGroup() as group:
            for kind, listed in settings.items():
                group.create_task(self._settings(inbox, kind, listed))
            for kind, listed in templates.items():
                group.create_task(self._objects(inbox, kind, listed, TemplateSeen))
            for listed in (*settings.values(), *templates.values()):
                await listed.wait()
            group.create_task(self._bindings(inbox))
            for kind, listed in schedules.items():
                group.create_task(self._objects(inbox, kind, listed, ScheduleSeen))
            for listed in schedules.values():
                await listed.wait()
            for kind, listed in jobs.items():
                group.create_task(self._objects(inbox, kind, listed, ObjectSeen))
            for listed in jobs.values():
                await listed.wait()
            inbox.put(ObjectsListed())

    async def _complaints(self, inbox: LocalMessages) -> tuple[tuple[str, str, str], ...]:
        while True:
            try:
                async with aclosing(self._bus.history(subjects.CONFIG, last=True)) as past:
                    return tuple([key async for one in past if (key := complaint(one)) is not None])
            except (Unreachable, OSError, TimeoutError) as error:
                log.warning("waiting", service=SERVICE, cause=str(error))
            await inbox.pause(_AGAIN_S)

    async def _settings(self, inbox: LocalMessages, kind: str, listed: asyncio.Event) -> None:
        async for change in self._hub.watch(kind):
            await inbox.room()
            if change.synced:
                inbox.put(SettingsListed(kind))
                listed.set()
            elif _is_object(change):
                inbox.put(SettingSeen(kind, change.manifest, change.gone, next(self._places)))

    async def _objects(
        self,
        inbox: LocalMessages,
        kind: str,
        listed: asyncio.Event,
        message: type[ObjectSeen | ScheduleSeen | TemplateSeen],
    ) -> None:
        async for change in self._hub.watch(kind):
            await inbox.room()
            if change.synced:
                if kind in RUNS:
                    inbox.put(RunsListed(kind))
                listed.set()
            elif _is_object(change):
                inbox.put(message(kind, change.manifest, change.gone, next(self._places)))

    async def _bindings(self, inbox: LocalMessages) -> None:
        """What is there is read once, whenever the hub begins to serve the kind."""
        asked = False
        while True:
            known = self._writes.served.is_set()
            refusal = None if known else await self._refusal()
            if refusal == "":
                await self._read_bindings(inbox)
                self._writes.served.set()
                inbox.put(BindingsListed())
            elif refusal is not None and not asked:
                log.warning("no bindings", cause=refusal, remedy="install deploy/crds on the hub")
                inbox.put(BindingsListed(served=False))
            asked = asked or known or refusal is not None
            await inbox.pause(_LOOK_AGAIN_S if asked else _AGAIN_S)

    async def _refusal(self) -> str | None:
        """Why the hub does not serve ResourceBindings: empty when it does, None when it does not answer."""
        try:
            # Patching what is not there costs nothing, and is refused only where the kind is not known.
            await self._hub.patch(KIND, "default", "fairway.is-it-served", [])
        except ClusterRefused as error:
            return str(error)
        except Unreachable as error:
            log.warning("waiting", service=SERVICE, cause=str(error))
            return None
        return ""

    async def _read_bindings(self, inbox: LocalMessages) -> None:
        async with aclosing(self._hub.watch(KIND, JOB_LABEL)) as told:  # type: ignore[type-var]  # it is a generator
            async for change in told:
                await inbox.room()
                if change.synced:
                    return
                meta = change.manifest.get("metadata") or {}
                owner = next((ref["uid"] for ref in meta.get("ownerReferences") or ()), "")
                mark = (meta.get("annotations") or {}).get(DIGEST, "")
                said = (stamps_of(change.manifest), change_of(change.manifest))
                inbox.put(BindingSeen(change.namespace, change.name, owner, mark, *said))


def _is_object(change: Change) -> bool:
    """The hub's API server gives nothing else; whoever stands in its place may."""
    meta = change.manifest.get("metadata")
    return isinstance(meta, dict) and isinstance(meta.get("name"), str)
