"""Server-side apply.

Simpler than Kubernetes in one way: conflicts are found between managers that apply, not with those that
update or patch, and `managedFields` names the managers without their field sets.
"""

from typing import Any

import msgspec
from aiohttp import web

from fairway.lab.kubesim.api import metadata as meta
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import ApiError, Json, about, bad_request, invalid
from fairway.lab.kubesim.api.field_managers import entry
from fairway.lab.kubesim.api.registry import Target
from fairway.lab.kubesim.api.store import Key, StoredObject
from fairway.lab.kubesim.api.strategic_merge import applied_config, apply, disagreements
from fairway.lab.kubesim.http.query import flag


class ApplyRequest(msgspec.Struct, frozen=True):
    """One apply request. `part` is `status` for that subresource."""

    manager: str
    body: Any
    force: bool = False
    part: str = ""
    dry: bool = False

    @property
    def slot(self) -> str:
        """The claim this request renews."""
        return f"{self.manager}/{self.part}"

    @classmethod
    def of(cls, request: web.BaseRequest, body: Any, part: str, dry: bool) -> "ApplyRequest":
        manager = request.query.get("fieldManager", "")
        if not manager:
            causes = [("fieldManager", "Required value: is required for apply patch")]
            raise invalid("PatchOptions.meta.k8s.io", "", causes)
        return cls(manager, body, flag(request.query, "force"), part, dry)


def serve_apply(api: ClusterApi, target: Target, wish: ApplyRequest) -> tuple[StoredObject, bool]:
    """The object after the apply, and whether it is new."""
    resource = target.resource
    body = meta.checked_body(resource, target.namespace, wish.body)
    if body["metadata"].setdefault("name", target.name) != target.name:
        raise bad_request(
            f"the name of the object ({body['metadata']['name']}) does not match the name on the URL ({target.name})"
        )
    if body["metadata"].get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    key = Key(resource.storage, target.namespace, target.name)
    config = _config(target, wish)
    claims = _copy(api.claims.get(key, {}))
    _refuse_conflicts(key, claims, config, wish)
    old = api.store.get(key)
    if not old:
        if body["metadata"].get("uid"):
            raise ApiError(
                409, "Conflict", f'uid mismatch: "{target.name}" does not exist', about(key.storage, key.name)
            )
        fresh = {**body, "metadata": {**body["metadata"], "managedFields": _managers(api, {}, wish)}}
        stored = api.create(resource, target.namespace, fresh, wish.dry)
    else:
        stored = _update(api, target, old, wish, claims.get(wish.slot))
    if not wish.dry:
        api.claims[key] = {**claims, wish.slot: _copy(config)}
    return stored, old is None


def _config(target: Target, wish: ApplyRequest) -> Json:
    """What the manager claims by this request: the status alone, or everything but it."""
    config = applied_config(wish.body)
    if wish.part == "status":
        return {"status": config.get("status") or {}}
    if target.resource.status:
        config.pop("status", None)
    return config


def _update(api: ClusterApi, target: Target, old: StoredObject, wish: ApplyRequest, before: Any) -> StoredObject:
    config = _config(target, wish)
    merged = apply(old.copy(), before, _copy(config), target.resource.builtin)
    asked = wish.body["metadata"]
    for field in ("uid", "resourceVersion"):
        if asked.get(field):
            merged["metadata"][field] = asked[field]
    if before != config:
        merged["metadata"]["managedFields"] = _managers(api, old.obj["metadata"], wish)
    merged["apiVersion"] = target.resource.api_version
    return api.update(target.resource, old, merged, wish.part, wish.dry)


def _managers(api: ClusterApi, metadata: Json, wish: ApplyRequest) -> list[Json]:
    mine = {**entry(wish.manager, wish.body["apiVersion"], api.clock.now()), "operation": "Apply"}
    if wish.part:
        mine["subresource"] = wish.part
    same = (wish.manager, wish.part)
    others = [
        one for one in metadata.get("managedFields") or () if (one.get("manager"), one.get("subresource", "")) != same
    ]
    return [*others, mine]


def _refuse_conflicts(key: Key, claims: dict[str, Json], config: Json, wish: ApplyRequest) -> None:
    """409 with every field that another manager applied differently, unless forced: then the claim moves."""
    causes = []
    for other, theirs in claims.items():
        if other == wish.slot:
            continue
        for path in disagreements(config, theirs):
            if wish.force:
                _give_up(theirs, path.split(".")[1:])
                continue
            manager = other.rpartition("/")[0]
            text = f'conflict with "{manager}"'
            causes.append({"reason": "FieldManagerConflict", "message": text, "field": path})
    if causes:
        noun = "conflict" if len(causes) == 1 else "conflicts"
        listed = ", ".join(f"{cause['message']}: {cause['field']}" for cause in causes)
        details = {**about(key.storage, key.name), "causes": causes}
        raise ApiError(409, "Conflict", f"Apply failed with {len(causes)} {noun}: {listed}", details)


def _give_up(claim: Json, path: list[str]) -> None:
    at: Any = claim
    for step in path[:-1]:
        at = at[step]
    at.pop(path[-1], None)


def _copy(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
