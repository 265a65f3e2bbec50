"""GET of an object and of a collection, page by page."""

import base64
import binascii
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web

from fairway.domain.text.digits import is_whole
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import ApiError, bad_request
from fairway.lab.kubesim.api.registry import ApiResource, Target
from fairway.lab.kubesim.api.selectors import both
from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.kubesim.http.query import number

if TYPE_CHECKING:
    from fairway.lab.kubesim.tables.table import Table


def reply(raw: bytes, status: int = 200) -> web.Response:
    return web.Response(body=raw, status=status, content_type="application/json")


def serve_get(api: ClusterApi, target: Target, table: "Table | None") -> web.Response:
    stored = api.get(target.resource, target.namespace, target.name)
    if table:
        return reply(table.of([stored], stored.version))
    return reply(stored.encoded(target.resource.api_version))


def serve_list(api: ClusterApi, request: web.BaseRequest, target: Target, table: "Table | None") -> web.Response:
    query = request.query
    match = both(target.resource.storage, query.get("labelSelector", ""), query.get("fieldSelector", ""))
    found = api.find(target.resource, target.namespace, match)
    version = api.store.version
    _check_version(query.get("resourceVersion", ""), version)
    if query.get("continue"):
        version, after = _token(query["continue"])
        api.store.since(target.resource.storage, version)
        found = [stored for stored in found if (stored.key.namespace, stored.key.name) > after]
    limit = number(query, "limit")
    metadata: dict[str, object] = {"resourceVersion": str(version)}
    if limit and len(found) > limit:
        metadata["continue"] = _continue(version, found[limit - 1])
        metadata["remainingItemCount"] = len(found) - limit
        found = found[:limit]
    if table:
        return reply(table.of(found, version, metadata))
    return list_of(target.resource, found, metadata)


def _check_version(wanted: str, version: int) -> None:
    if wanted and not is_whole(wanted):
        raise bad_request(f'invalid resource version: resourceVersion: Invalid value: "{wanted}"')
    if wanted and int(wanted) > version:
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        text = f"Timeout: Too large resource version: {wanted}, current: {version}"
        raise ApiError(504, "Timeout", text, {"causes": [cause], "retryAfterSeconds": 1})


def list_of(resource: ApiResource, found: list[StoredObject], metadata: dict[str, object]) -> web.Response:
    """Joined from the bytes of the objects."""
    head = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": metadata}
    items = b",".join(stored.encoded(resource.api_version) for stored in found)
    return reply(msgspec.json.encode(head)[:-1] + b',"items":[' + items + b"]}")


def _continue(version: int, last: StoredObject) -> str:
    raw = msgspec.json.encode([version, last.key.namespace, last.key.name])
    return base64.urlsafe_b64encode(raw).decode()


def _token(text: str) -> tuple[int, tuple[str, str]]:
    """The version of the first page, and the last object that was sent."""
    try:
        version, namespace, name = msgspec.json.decode(base64.urlsafe_b64decode(text), type=tuple[int, str, str])
    except (binascii.Error, msgspec.MsgspecError, ValueError):
        raise bad_request("invalid continue token: it is none of this server's") from None
    return version, (namespace, name)
