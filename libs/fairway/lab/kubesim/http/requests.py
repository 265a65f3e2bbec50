"""One cluster's API over HTTP: which path means what, and how an answer is written."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import yaml
from aiohttp import web

from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import ApiError, Json, NoSuchPath, bad_request, no_such_path
from fairway.lab.kubesim.api.registry import SUBRESOURCES, Target, in_api
from fairway.lab.kubesim.faults import Faults
from fairway.lab.kubesim.http import access_reviews, discovery, protobuf
from fairway.lab.kubesim.http.authorization import Authorizer
from fairway.lab.kubesim.http.identities import KnownIdentities, User
from fairway.lab.kubesim.http.query import flag
from fairway.lab.kubesim.http.reads import serve_get, serve_list
from fairway.lab.kubesim.http.watch import serve_watch
from fairway.lab.kubesim.http.writes import not_allowed, serve_write
from fairway.lab.kubesim.tables.table import wanted as table_wanted

# What a real API server reads of a request body (k8s.io/apiserver, MaxRequestBodyBytes).
MOST_BYTES = 3 * 1024 * 1024
SimHandler = Callable[[str, Any], Awaitable[Json]]
_READABLE = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_HEALTH = ("healthz", "livez", "readyz")


class Server:
    """The handler of one cluster's port. `sim` answers what is below /sim/. With a gate that asks who comes, every path
    but those of its health needs somebody who may, and what is below /sim/ an administrator."""

    def __init__(self, api: ClusterApi, faults: Faults, sim: SimHandler, gate: Authorizer | None = None) -> None:
        self.api = api
        self.faults = faults
        self._sim = sim
        self._gate = gate or Authorizer()
        self._discovery = discovery.Discovery(api.registry)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            parts = [part for part in request.path.split("/") if part]
            if request.path.startswith("/sim/"):
                self._gate.admit(request, parts)
                return reply(await self._sim(request.path[5:], await _body(request)))
            await self.faults.gate(request)
            return await self._route(request, parts, self._gate.admit(request, parts))
        except NoSuchPath:
            return web.Response(text="404 page not found\n", status=404)
        except ApiError as error:
            return reply(error.body(), error.code)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            # A shape that a schema would have refused; a real API server has one for every kind.
            text = f"an error on the server: {type(error).__name__}: {error}"
            return reply(ApiError(500, "InternalError", text).body(), 500)

    async def _route(self, request: web.BaseRequest, parts: list[str], user: User) -> web.StreamResponse:
        if parts and parts[0] in _HEALTH:
            return web.Response(text="ok")
        if parts == ["openapi", "v2"]:
            return web.Response(body=b"", headers={"Content-Type": discovery.OPENAPI_V2})
        found = self._discovery.answer(parts, request.headers.get("Accept", ""))
        if found is not None:
            return reply(found, content_type=discovery.content_type(found))
        known = self._gate.known
        if known is None and request.method == "POST" and parts[1:2] == [access_reviews.AUTHORIZATION]:
            return reply(await _allowed(request), 201)
        target = self.target(parts)
        if known is not None and target.resource in access_reviews.RESOURCES:
            return await _reviewed(request, known, user, target)
        if request.method == "GET":
            return await self._read(request, target)
        # Nothing said means JSON.
        said = request.content_type if "Content-Type" in request.headers else _READABLE[0]
        if request.method in ("POST", "PUT") and said not in _READABLE:
            listed = ", ".join(_READABLE)
            text = f"the body of the request was in an unknown format - accepted media types include: {listed}"
            raise ApiError(415, "UnsupportedMediaType", text)
        return await serve_write(self.api, request, target, await _body(request))

    async def _read(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        if target.sub == "log":
            return web.Response(text=f"kubesim runs no containers, so {target.name} has no log\n")
        table = table_wanted(request, self.api, target.resource)
        if flag(request.query, "watch"):
            return await serve_watch(self.api, request, target, table, self.faults)
        if target.name:
            return serve_get(self.api, target, table)
        return serve_list(self.api, request, target, table)

    def target(self, parts: list[str]) -> Target:
        """404 when the path names no resource of this cluster."""
        group, version, rest = in_api(parts)
        if not rest or version not in self.api.registry.groups().get(group, ()):
            raise NoSuchPath
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in SUBRESOURCES:
            namespace = rest[1]
            rest = rest[2:]
        plural, name, sub = (*rest, "", "")[:3]
        resource = self.api.registry.find(group, version, plural)
        if not resource and not any(one.builtin for one in self.api.registry if one.group == group):
            raise NoSuchPath
        if not resource or len(rest) > 3 or sub not in ("", *SUBRESOURCES):
            raise no_such_path()
        if resource.namespaced is not bool(namespace) and (name or namespace):
            raise no_such_path()
        if sub == "status" and not resource.status:
            raise no_such_path()
        return Target(resource, namespace, name, sub)


def reply(body: Json, status: int = 200, content_type: str = "application/json") -> web.Response:
    headers = {"Content-Type": content_type}
    return web.Response(body=msgspec.json.encode(body), status=status, headers=headers)


async def _body(request: web.BaseRequest) -> Any:
    try:
        raw = await request.read()
    except web.HTTPRequestEntityTooLarge:
        text = f"Request entity too large: limit is {MOST_BYTES}"
        raise ApiError(413, "RequestEntityTooLarge", text) from None
    if not raw:
        return None
    if raw.startswith(protobuf.MAGIC):
        return protobuf.decode(raw)
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        pass
    try:
        return yaml.safe_load(raw)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from None


async def _reviewed(request: web.BaseRequest, known: KnownIdentities, user: User, target: Target) -> web.Response:
    if request.method != "POST" or target.name:
        raise not_allowed()
    return reply(access_reviews.answer(known, user, target.resource, await _body(request)), 201)


async def _allowed(request: web.BaseRequest) -> Json:
    """Everybody may do everything: `kubectl auth can-i` says yes."""
    body = await _body(request)
    answer: Json = {**(body if isinstance(body, dict) else {}), "status": {"allowed": True}}
    return answer
