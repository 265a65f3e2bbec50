"""The calls to the hub, done. What it does not take is an outcome, too; what is not known is tried again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from fairway.domain.decision import Call, Outcome
from fairway.hub.calls import (
    BIND,
    CONDITION,
    EVENT,
    LOOK,
    MANIFEST,
    NO_STATUS,
    NOT_SERVED,
    NOT_TAKEN,
    RESET,
    RUN,
    STATUS,
    UNBIND,
    BindingWrite,
    ConditionWrite,
    FoundObject,
    Json,
    Place,
    StatusWrite,
)
from fairway.hub.messages import SERVICE, Unbind
from fairway.hub.schedules.run_writes import write_run
from fairway.hub.settings.ready_conditions import conditions_with
from fairway.hub.telling.bindings import KIND as BINDING
from fairway.hub.telling.bindings import replacing
from fairway.hub.telling.events import KIND as EVENTS
from fairway.hub.telling.events import Note, manifest_of
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ownership import Ownership
from fairway.runtime.ports import Bus, Clock, Unreachable
from fairway.runtime.record import manifests
from fairway.wire.reasons import Code
from fairway.wire.spec import ManifestRef
from fairway.workloads.kinds.registry import KINDS

log = structlog.get_logger()
# Writes to the hub in flight.
AT_ONCE = 16
# What an API server answers anybody now and then, and not when it is asked again.
_PASSING = frozenset({"Conflict", "InternalError", "TooManyRequests"})


def _passing(error: ClusterRefused) -> None:
    """Raises Unreachable where it is worth another try."""
    if error.code in _PASSING:
        raise Unreachable(str(error)) from error


class HubWrites:
    """`served` is set while the hub is known to have ResourceBindings."""

    def __init__(self, hub: Cluster, bus: Bus, clock: Clock, ownership: Ownership) -> None:
        self._reached = hub
        self._bus = bus
        self._clock = clock
        self._ownership = ownership
        self._gate = asyncio.Semaphore(AT_ONCE)
        self.served = asyncio.Event()
        # Where the status of a kind is: its own subresource, or the object itself.
        self._subresource: dict[str, str] = {}
        self._do: dict[str, Callable[[Call], Awaitable[Outcome]]] = {
            EVENT: self._event,
            CONDITION: self._condition,
            STATUS: self._status,
            RESET: self._reset,
            BIND: self._bind,
            UNBIND: self._unbind,
            LOOK: self._look,
            MANIFEST: self._manifest,
            RUN: self._run,
        }

    @property
    def _hub(self) -> Cluster:
        """Raises Unreachable when another process may own what is there by now: it was asked for before that."""
        if not self._ownership.lasts(self._clock.now()):
            raise Unreachable("the lease has run out")
        return self._reached

    async def __call__(self, call: Call) -> Outcome:
        try:
            async with self._gate:
                return await self._done(call)
        except Unreachable as error:
            log.info("waiting", service=SERVICE, verb=call.verb, cause=str(error))
            return Outcome(call, False, text=str(error))

    async def _done(self, call: Call) -> Outcome:
        try:
            return await self._do[call.verb](call)
        except ClusterRefused as error:  # what was to be looked at after a refusal
            _passing(error)
            log.info("not taken", verb=call.verb, cause=str(error))
            return Outcome(call, True, NOT_TAKEN, str(error))

    async def _event(self, call: Call) -> Outcome:
        """An Event is never worth a stop."""
        note: Note = call.body
        try:
            await self._hub.create(EVENTS, manifest_of(note, self._clock.now()))
        except ClusterRefused as error:
            _passing(error)
            if error.code != "AlreadyExists":
                log.info("event not taken", kind=note.about.kind, name=note.about.name, cause=str(error))
        return Outcome(call, True)

    async def _condition(self, call: Call) -> Outcome:
        body: ConditionWrite = call.body
        one = body.one
        # Only onto what was looked at: who is faster is told of soon, and judged anew.
        version = {"resourceVersion": (one.manifest.get("metadata") or {}).get("resourceVersion")}
        patch = {"metadata": version, "status": {"conditions": conditions_with(one, body.condition)}}
        try:
            taken = await self._hub.patch(one.kind, one.namespace, one.name, patch, "status")
            # A patch of nothing tells whether the object is there, and needs no right beyond those that settings need.
            if taken is None and await self._hub.patch(one.kind, one.namespace, one.name, {}) is not None:
                log.info("no conditions: its definition has no status subresource", kind=one.kind)
                return Outcome(call, True, NO_STATUS)
        except ClusterRefused as error:
            _passing(error)
            log.info("condition not taken", kind=one.kind, name=one.name, cause=str(error))
            return Outcome(call, True, NOT_TAKEN, str(error))
        return Outcome(call, True)

    async def _status(self, call: Call) -> Outcome:
        """Replaces the status as a whole: what the member no longer says must go here too."""
        body: StatusWrite = call.body
        place = body.place
        try:
            if await self._put_status(place, body.status):
                return Outcome(call, True)
            return Outcome(call, True, NOT_TAKEN, "it is not there")
        except ClusterRefused as error:
            _passing(error)
            # The object is another by now, or it does not show what was thought.
            found = await self._get(place)
            mine = found is not None and found["metadata"].get("uid") == place.uid
            shown = (found.get("status") or {}) if mine and found is not None else None
            log.info("status not taken", kind=place.kind, name=place.name, cause=str(error))
            return Outcome(call, True, NOT_TAKEN, str(error), shown)

    async def _put_status(self, place: Place, status: Json) -> bool:
        """False: no such object. A kind whose definition has no status subresource (Argo's Workflow) takes it as part
        of the object."""
        steps: list[Json] = [
            {"op": "test", "path": "/metadata/uid", "value": place.uid},
            {"op": "add", "path": "/status", "value": status},
        ]
        known = self._subresource.get(place.kind)
        for part in ("status", "") if known is None else (known,):
            if await self._hub.patch(place.kind, place.namespace, place.name, steps, part) is not None:
                self._subresource[place.kind] = part
                return True
        return False

    async def _reset(self, call: Call) -> Outcome:
        """Takes back that the object failed."""
        place: Place = call.body
        where = (place.kind, place.namespace, place.name, {"status": KINDS[place.kind].ends.anew})
        try:
            if await self._hub.patch(*where, "status") is None:
                await self._hub.patch(*where)
        except ClusterRefused as error:
            _passing(error)
            cause = str(error)
            log.info("not submitted anew: delete it and apply it again", kind=place.kind, name=place.name, cause=cause)
            return Outcome(call, True, NOT_TAKEN, cause)
        return Outcome(call, True)

    async def _bind(self, call: Call) -> Outcome:
        body: BindingWrite = call.body
        where = (BINDING, body.manifest["metadata"]["namespace"], body.manifest["metadata"]["name"])
        try:
            if not body.known or await self._hub.patch(*where, replacing(body.manifest)) is None:
                await self._create_binding(where, body.manifest)
        except ClusterRefused as error:
            _passing(error)
            if error.code == Code.KIND_NOT_SERVED:
                log.warning("no bindings any more", cause=str(error))
                self.served.clear()
                return Outcome(call, True, NOT_SERVED, str(error))
            log.info("binding not taken", namespace=where[1], name=where[2], cause=str(error))
            return Outcome(call, True, NOT_TAKEN, str(error))
        return Outcome(call, True)

    async def _create_binding(self, where: tuple[str, str, str], manifest: Json) -> None:
        try:
            await self._hub.create(BINDING, manifest)
        except ClusterRefused as error:
            _passing(error)
            if error.code != "AlreadyExists" or await self._hub.patch(*where, replacing(manifest)) is None:
                raise

    async def _unbind(self, call: Call) -> Outcome:
        body: Unbind = call.body
        try:
            await self._hub.drop(BINDING, body.namespace, body.name)
        except ClusterRefused as error:
            _passing(error)
            log.info("binding not removed", namespace=body.namespace, name=body.name, cause=str(error))
        return Outcome(call, True)

    async def _look(self, call: Call) -> Outcome:
        place: Place = call.body
        try:
            found = await self._get(place)
            served = found is not None or place.kind in await self._hub.served()
        except ClusterRefused as error:
            _passing(error)
            log.warning("object not looked up", cause=str(error))
            return Outcome(call, True, NOT_TAKEN, str(error))
        return Outcome(call, True, body=FoundObject(found, served, place.seen))

    async def _manifest(self, call: Call) -> Outcome:
        ref: ManifestRef = call.body
        return Outcome(call, True, body=await manifests.manifest_of(self._bus, ref))

    async def _run(self, call: Call) -> Outcome:
        return Outcome(call, True, *await write_run(self._hub, call.body))

    async def _get(self, place: Place) -> dict[str, Any] | None:
        return await self._hub.get(place.kind, place.namespace, place.name)
