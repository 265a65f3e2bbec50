"""POST /v1/settings: a quota tree, queue, priority class or policy for the whole fleet. It is written to the hub, which
stays the one place that has it; only a fleet without a hub is told directly."""

from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.gateway import hub_objects, problem
from fairway.gateway.fleet import Configuration
from fairway.gateway.hub_objects import SETTINGS, HubObject, hub_object
from fairway.gateway.submit import Door, read_body
from fairway.runtime.loop import World
from fairway.runtime.ports import Cluster, ClusterRefused
from fairway.wire import fleet, subjects
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.door import parse_documents
from fairway.workloads.fields import Field, Problems
from fairway.workloads.names import read_name
from fairway.workloads.policies import CLUSTER_WIDE, read_policy
from fairway.workloads.queues import read_queue
from fairway.workloads.quota import read_quota_tree

_WITHOUT_NAMESPACE = ("PriorityClass", CLUSTER_WIDE)
_LOOKS, _LOOK_S = 100, 0.05
_decode = msgspec.json.Decoder(fleet.Message).decode


class InForce(Struct, frozen=True):
    """`in_force`: the services go by it now; else it is stored and they will in a moment."""

    kind: str
    namespace: str
    name: str
    in_force: bool


class SettingsDoor:
    def __init__(self, world: World, door: Door, configuration: Configuration, hub: Cluster | None) -> None:
        self._world, self._door, self._set, self._hub = world, door, configuration, hub

    async def post(self, request: Request) -> Response:
        one = _read(parse_documents(await read_body(request)))
        SETTINGS[one.kind](one.manifest)
        asked_at = self._world.clock.now()
        if self._hub is None:
            await self._door.publish(hub_objects.configured(one, asked_at))
        else:
            await self._write(self._hub, one)
        for _ in range(_LOOKS):
            if holds(self._set, one):
                return problem.answer(InForce(*one.key, True))
            await self._world.clock.sleep(_LOOK_S)
        await self._refusal(one, asked_at)
        return problem.answer(InForce(*one.key, False), 202)

    async def _write(self, hub: Cluster, one: HubObject) -> None:
        try:
            if await hub.patch(one.kind, one.namespace, one.name, one.manifest) is None:
                await hub.create(one.kind, one.manifest)
        except ClusterRefused as error:
            text = f"the hub does not take it: {error}"
            raise problem.refused([Reason(Code.INVALID, text, remedy="correct the object")]) from error

    async def _refusal(self, one: HubObject, since: int) -> None:
        """Raises when the gateway's own intake has refused what the hub took."""
        subject = subjects.config(f"refused:{one.plain}", one.namespace, one.name)
        async for said in self._world.bus.history(subjects.CONFIG, [subject], last=True):
            message = _decode(said.data)
            if isinstance(message, fleet.ConfigRefused) and message.reasons and message.at >= since:
                raise problem.refused(message.reasons)


def _read(documents: list[dict[str, Any]]) -> HubObject:
    if len(documents) != 1:
        text = f"the body holds {len(documents)} objects, not one"
        raise Refused(Reason(Code.INVALID, text, remedy="send one object in each request"))
    manifest = documents[0]
    kind = f"{manifest.get('kind')}.{manifest.get('apiVersion')}"
    if kind not in SETTINGS:
        known = ", ".join(sorted(name.replace(".", " of ", 1) for name in SETTINGS))
        raise Refused(Reason(Code.UNKNOWN_KIND, f"{kind[:120]} is no setting of a fleet", "kind", f"use {known}"))
    problems = Problems()
    read_name(Field(manifest, problems)["metadata"]["name"], 253)
    problems.stop()
    space = "" if manifest["kind"] in _WITHOUT_NAMESPACE else manifest["metadata"].get("namespace") or "default"
    metadata = {**manifest["metadata"], **({"namespace": space} if space else {})}
    return hub_object(kind, {**manifest, "metadata": metadata})


def holds(configuration: Configuration, one: HubObject) -> bool:
    """Whether the configuration is what the object asks for."""
    match one.plain:
        case hub_objects.TREE:
            return configuration.tree == read_quota_tree(one.manifest)
        case "Queue":
            return configuration.queues.get(one.name) == read_queue(one.manifest)
        case "PriorityClass":
            return configuration.classes.get(one.name) == int(one.manifest["value"])
    known = configuration.policies.get(one.key)
    return known is not None and msgspec.structs.replace(known, version="") == read_policy(one.manifest)
