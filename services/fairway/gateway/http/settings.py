"""POST /v1/settings: a policy, quota tree, queue, priority class or tenant profile set over HTTP; on the hub too, when
there is one. The same is taken and refused as from the hub itself."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.gateway.audit.audit_trail import AuditTrail
from fairway.gateway.callers.access import access_of
from fairway.gateway.callers.rights_of_kinds import setting
from fairway.gateway.http.problem import Problem, answer, refused
from fairway.gateway.http.submit import Door
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.wire import subjects
from fairway.wire.reasons import Code, Reason
from fairway.workloads.hub.objects import (
    SETTINGS,
    WIDE,
    HubObject,
    Key,
    cleaned,
    configured,
    hub_object,
    place_of,
    problems_of,
    rival_of,
    withdrawn,
)
from fairway.workloads.hub.setting_limits import beyond
from fairway.workloads.settings.field_effects import warnings
from fairway.workloads.settings.policies import is_policy
from fairway.workloads.settings.policy_limits import Together, size_of


class Taken(Struct, frozen=True, omit_defaults=True):
    """`warnings`: what of it is known and has no effect."""

    kind: str
    namespace: str
    name: str
    warnings: tuple[str, ...] = ()


class SettingsDoor:
    """`hub` keeps what it is given: without it, a restart of the intake would find it gone from there. `together` says
    how large the policies in force are."""

    def __init__(
        self, door: Door, hub: Cluster | None, admin: frozenset[str], together: Together, trail: AuditTrail
    ) -> None:
        self._door = door
        self._hub = hub
        self._admin = admin
        self._together = together
        self._trail = trail

    async def post(self, request: Request) -> Response:
        documents = await self._door.reading.documents(request)
        if len(documents) != 1:
            text = f"the body holds {len(documents)} objects, not one"
            raise refused([Reason(Code.INVALID, text, remedy="send one object in each request")])
        one = _object(documents[0])
        access = access_of(request)
        patch, create = setting(one)
        await access.need(patch)
        await access.need(create)
        if reasons := beyond(one, self._together) or problems_of(one, self._admin):
            raise refused(reasons)
        gives_way = await self._holders(one)
        if self._hub is not None:
            await self._keep(self._hub, one)
        now = self._door.now()
        gone = [withdrawn(holder, f"http/{now}", now, access.actor) for holder in gives_way]
        await self._door.publish([*gone, configured(one, access.actor, now), self._trail.did(access, patch)])
        if is_policy(one.manifest):
            # The next one may come before the stream has told of this one.
            self._together.put(one.key, size_of(cleaned(one.manifest)))
        return answer(Taken(one.plain, one.namespace, one.name, warnings(one.manifest)))

    async def _holders(self, one: HubObject) -> list[Key]:
        """Others that stand in its place and give way. Raises Problem when one does not."""
        found = []
        wide = place_of(one.key) != one.key
        subject = subjects.configs(one.plain) if wide else subjects.config(*one.key)
        for holder, kind in await self._door.in_force(subject):
            if place_of(holder) != place_of(one.key):
                continue
            if rival := rival_of(one, holder, kind, self._admin):
                raise refused([rival])
            if holder != one.key:
                found.append(holder)
        return found

    async def _keep(self, hub: Cluster, one: HubObject) -> None:
        manifest = cleaned(one.manifest)
        try:
            if await hub.patch(one.kind, one.namespace, one.name, manifest) is None:
                await hub.create(one.kind, manifest)
        except ClusterRefused as error:
            raise Problem(409, f"the hub refused it: {error.text}", "correct it, or apply it with kubectl") from error


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
    placed = {} if kind.partition(".")[0] in WIDE else {"namespace": namespace or "default"}
    rest = {key: value for key, value in meta.items() if key != "namespace"}
    return hub_object(kind, {**manifest, "metadata": {**rest, **placed}})
