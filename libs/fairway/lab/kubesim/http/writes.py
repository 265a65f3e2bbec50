"""POST, PUT, PATCH and DELETE."""

from typing import Any

import msgspec
from aiohttp import web

from fairway.lab.kubesim.api import json_patch, strategic_merge
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import ApiError, Json, about, bad_request, invalid
from fairway.lab.kubesim.api.field_managers import entry
from fairway.lab.kubesim.api.metadata import Deletion, check_same
from fairway.lab.kubesim.api.registry import ApiResource, Target
from fairway.lab.kubesim.api.selectors import both
from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.kubesim.http.reads import list_of, reply
from fairway.lab.kubesim.http.server_side_apply import ApplyRequest, serve_apply

_OPTIONS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}


async def serve_write(api: ClusterApi, request: web.BaseRequest, target: Target, body: Any) -> web.Response:
    dry = _dry(request)
    if request.method == "POST":
        return _post(api, target, _signed(api, request, body, target), dry)
    if request.method == "DELETE":
        return _delete(api, request, target, body)
    if not target.name:
        raise not_allowed()
    part = "status" if target.sub == "status" else ""
    if request.method == "PATCH" and request.content_type == "application/apply-patch+yaml":
        stored, created = serve_apply(api, target, ApplyRequest.of(request, body, part, dry))
        return _answer(stored, target.resource, 201 if created else 200)
    if request.method == "PATCH" and "force" in request.query:
        fault = ("force", "Forbidden: may not be specified for non-apply patch")
        raise invalid("PatchOptions.meta.k8s.io", "", [fault])
    old = api.get(target.resource, target.namespace, target.name)
    new = body if request.method == "PUT" else _patched(request.content_type, target.resource, old, body)
    return _answer(api.update(target.resource, old, _credited(api, request, old, new), part, dry), target.resource)


def not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def _dry(request: web.BaseRequest) -> bool:
    asked = request.query.get("dryRun", "")
    if asked not in ("", "All"):
        options = f"{_OPTIONS.get(request.method, 'DeleteOptions')}.meta.k8s.io"
        raise invalid(options, "", [("dryRun", f'Unsupported value: ["{asked}"]: supported values: "All"')])
    return bool(asked)


def _signed(api: ClusterApi, request: web.BaseRequest, body: Any, target: Target) -> Any:
    """Names who creates the object: as it says, or by the first word of its User-Agent."""
    if target.sub or not isinstance(body, dict) or not isinstance(body.get("metadata", {}), dict):
        return body
    made = _entry(api, request, target.resource.api_version)
    return {**body, "metadata": {**(body.get("metadata") or {}), "managedFields": [made]}}


def _credited(api: ClusterApi, request: web.BaseRequest, old: StoredObject, body: Any) -> Any:
    """Names who changes the object, when it is a change and there is no such entry yet."""
    if not isinstance(body, dict) or not isinstance(body.get("metadata", {}), dict):
        return body
    status = request.path.endswith("/status")
    if body.get("status") == old.obj.get("status") if status else body == old.obj:
        return body
    mine = _entry(api, request, str(body.get("apiVersion", "")))
    if status:
        mine["subresource"] = "status"
    there = list(old.obj["metadata"].get("managedFields") or ())
    same = ("manager", "operation", "subresource")
    if not any(all(one.get(field) == mine.get(field) for field in same) for one in there):
        there.append(mine)
    return {**body, "metadata": {**(body.get("metadata") or {}), "managedFields": there}}


def _entry(api: ClusterApi, request: web.BaseRequest, api_version: str) -> Json:
    agent = request.headers.get("User-Agent", "unknown").partition("/")[0]
    return entry(request.query.get("fieldManager") or agent, api_version, api.clock.now())


def _answer(stored: StoredObject, resource: ApiResource, status: int = 200) -> web.Response:
    return reply(stored.encoded(resource.api_version), status)


def _post(api: ClusterApi, target: Target, body: Any, dry: bool) -> web.Response:
    if target.sub == "eviction":
        old = api.get(target.resource, target.namespace, target.name)
        api.delete(target.resource, old, _options(body.get("deleteOptions") if isinstance(body, dict) else None))
        return _success(old)
    if target.name:
        raise not_allowed()
    return _answer(api.create(target.resource, target.namespace, body, dry), target.resource, 201)


def _patched(content_type: str, resource: ApiResource, old: StoredObject, body: Any) -> Json:
    merged = _merged(content_type, resource, old.copy(), body)
    # A patch of the whole document may name the version that the URL names.
    merged["apiVersion"] = resource.api_version
    check_same(resource, old, merged)
    return merged


def _merged(content_type: str, resource: ApiResource, obj: Json, body: Any) -> Json:
    if content_type == "application/json-patch+json":
        if not isinstance(body, list):
            raise bad_request("a JSON patch is a list of operations")
        return json_patch.json_patch(obj, body)
    if not isinstance(body, dict):
        raise bad_request("a merge patch is an object")
    if content_type == "application/merge-patch+json":
        merged = json_patch.merge(obj, body)
    elif content_type == "application/strategic-merge-patch+json" and resource.builtin:
        merged = strategic_merge.strategic_merge(obj, body)
    else:
        text = (
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
        )
        raise ApiError(415, "UnsupportedMediaType", text)
    result: Json = merged
    return result


def _options(body: Any, query: Any = None) -> Deletion:
    """DeleteOptions from the body, or as query parameters."""
    given: Json = {**(query or {}), **(body if isinstance(body, dict) else {})}
    policy = given.get("propagationPolicy") or "Background"
    if given.get("orphanDependents") in (True, "true"):
        policy = "Orphan"
    if policy not in ("Background", "Foreground", "Orphan"):
        fault = f'Unsupported value: "{policy}": supported values: "Foreground", "Background", "Orphan", "nil"'
        raise invalid("DeleteOptions.meta.k8s.io", "", [("propagationPolicy", fault)])
    grace = given.get("gracePeriodSeconds")
    return Deletion(
        policy=policy,
        grace=None if grace is None else int(grace),
        preconditions=given.get("preconditions") or {},
        dry="All" in str(given.get("dryRun") or ""),
    )


def _delete(api: ClusterApi, request: web.BaseRequest, target: Target, body: Any) -> web.Response:
    how = _options(body, request.query)
    if target.name:
        old = api.get(target.resource, target.namespace, target.name)
        left = api.delete(target.resource, old, how)
        return _answer(left, target.resource) if left else _success(old)
    query = request.query
    match = both(target.resource.storage, query.get("labelSelector", ""), query.get("fieldSelector", ""))
    found = api.find(target.resource, target.namespace, match)
    for stored in found:
        if api.store.get(stored.key):
            api.delete(target.resource, stored, how)
    return list_of(target.resource, found, {"resourceVersion": str(api.store.version)})


def _success(old: StoredObject) -> web.Response:
    answer: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    answer["details"] = {**about(old.key.storage, old.key.name), "uid": old.obj["metadata"]["uid"]}
    return reply(msgspec.json.encode(answer))
