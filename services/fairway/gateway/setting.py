"""POST /v1/settings: a policy, quota tree, queue or priority class set over HTTP; on the hub too, when there is one."""

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.domain.decision import Say
from fairway.gateway.callers.access import access_of
from fairway.gateway.callers.kinds import setting
from fairway.gateway.hub_objects import SETTINGS, TREE, HubObject, cleaned, configured, hub_object, problems_of
from fairway.gateway.problem import Problem, answer, refused
from fairway.gateway.submit import Door
from fairway.runtime.ports import Cluster, ClusterRefused
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason


class Taken(Struct, frozen=True):
    kind: str
    namespace: str
    name: str


class SettingsDoor:
    """`hub` keeps what it is given: without it, a restart of the intake would find it gone from there."""

    def __init__(self, door: Door, hub: Cluster | None) -> None:
        self._door, self._hub = door, hub

    async def post(self, request: Request) -> Response:
        documents = await self._door.reading.documents(request)
        if len(documents) != 1:
            text = f"the body holds {len(documents)} objects, not one"
            raise refused([Reason(Code.INVALID, text, remedy="send one object in each request")])
        one, access = _object(documents[0]), access_of(request)
        for ask in setting(one):
            await access.need(ask)
        if reasons := problems_of(one, await self._door.tree_in_force() if one.plain == TREE else None):
            raise refused(reasons)
        if self._hub is not None:
            await self._keep(self._hub, one)
        await self._door.publish([_said_by(configured(one, self._door.now()), access.actor)])
        return answer(Taken(one.plain, one.namespace, one.name))

    async def _keep(self, hub: Cluster, one: HubObject) -> None:
        manifest = cleaned(one.manifest)
        try:
            if await hub.patch(one.kind, one.namespace, one.name, manifest) is None:
                await hub.create(one.kind, manifest)
        except ClusterRefused as error:
            raise Problem(409, f"the hub refused it: {error.text}", "correct it, or apply it with kubectl") from error


def _said_by(say: Say, who: Actor) -> Say:
    return msgspec.structs.replace(say, message=msgspec.structs.replace(say.message, who=who))


def _object(manifest: dict[str, object]) -> HubObject:
    kind = f"{manifest.get('kind')}.{manifest.get('apiVersion')}"
    if kind not in SETTINGS:
        known = ", ".join(sorted({one.partition(".")[0] for one in SETTINGS}))
        text = f"{kind[:120]} is not a setting of the fleet"
        raise refused([Reason(Code.UNKNOWN_KIND, text, "kind", f"use one of {known}; jobs go to /v1/jobs")])
    meta = manifest.get("metadata")
    if not isinstance(meta, dict) or not isinstance(meta.get("name"), str) or not meta["name"]:
        raise refused([Reason(Code.INVALID, "is missing", "metadata.name", "name the object")])
    namespace = meta.get("namespace", "")
    if not isinstance(namespace, str):
        raise refused([Reason(Code.INVALID, "is not a string", "metadata.namespace", "put it in quotes")])
    namespaced = not kind.startswith(("ClusterPropagationPolicy.", "PriorityClass."))
    placed = {"namespace": namespace or "default"} if namespaced else {}
    rest = {key: value for key, value in meta.items() if key != "namespace"}
    return hub_object(kind, {**manifest, "metadata": {**rest, **placed}})
