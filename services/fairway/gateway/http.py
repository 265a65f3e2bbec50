"""The HTTP door: one table of routes, for the router and for the OpenAPI document.

As long as it asks nobody who they are, it listens on the loopback only, and answers only to loopback names, so that
no web page can reach it through a name of its own.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from fairway.domain.job import Job
from fairway.domain.tenancy import SYSTEM_NAMESPACES
from fairway.gateway.decide import Submission
from fairway.gateway.fleet import ClusterList, Configuration, Fleet, QueueList, QuotaList
from fairway.gateway.jobs import Cancelling, JobPage, Jobs
from fairway.gateway.limiter import Limiter
from fairway.gateway.openapi import Operation, Parameter, document
from fairway.gateway.preview import Preview, Understand, preview
from fairway.gateway.problem import Problem, answer, away, on_failure, on_problem, on_refused, on_status
from fairway.gateway.setting import SettingsDoor, Taken
from fairway.gateway.stream import Streams
from fairway.gateway.submit import Accepted, Door
from fairway.runtime.loop import World
from fairway.runtime.ports import Cluster, Ids, StoreWiped, Unreachable
from fairway.runtime.story import Story, Why
from fairway.wire.reasons import Code, Refused

VERSION = "v1"
_LOOPBACK = frozenset({"127.0.0.1", "::1"})
_NAMES = frozenset({*_LOOPBACK, "localhost"})
Handler = Callable[[Request], Awaitable[Response]]


class HttpSettings(Struct, frozen=True):
    """`understand` is admission's reading of a message (for dry runs); `configuration` what the hub has set;
    `hub`, where there is one, keeps the settings that come over HTTP. `limiter` is shared with the hub's intake;
    `refused` counts what cannot be read; quota trees and queues are taken from namespaces of `admin`."""

    ids: Ids
    understand: Understand
    configuration: Configuration
    insecure: bool = False
    hub: Cluster | None = None
    limiter: Limiter | None = None
    refused: Callable[[Code], None] = lambda code: None
    admin: frozenset[str] = SYSTEM_NAMESPACES.admin


class Envelope(Struct, frozen=True):
    """The body of a submission as JSON. `client` is the id by which a repeat is known; the header wins over it."""

    manifest: dict[str, Any]
    policies: list[dict[str, Any]] = []
    client: str = ""


class Setting(Struct, frozen=True):
    """A Kubernetes object of one of these kinds."""

    apiVersion: str
    kind: str
    metadata: dict[str, Any]
    spec: dict[str, Any] = {}


def check_address(host: str, insecure: bool) -> None:
    """ValueError when the door would be open to others without asking who they are."""
    if insecure or host in _LOOPBACK:
        return
    raise ValueError(
        f"the HTTP door has no authentication yet and would listen on {host!r}; use 127.0.0.1 or ::1, or say --insecure"
    )


def create_app(world: World, settings: HttpSettings) -> Starlette:
    rules = settings.configuration

    def foresee(said: Submission) -> Preview:
        return preview(rules.tenancy(said.tenant), settings.understand(said.say.message), rules.tree)

    limiter = settings.limiter or Limiter(world, lambda: rules.limits)
    door = Door(world, settings.ids, foresee, limiter, settings.refused)
    table = _of_jobs(Jobs(world, door), door) + _of_fleet(Fleet(world, settings.configuration), Streams(world))
    table.append((_SETTING, SettingsDoor(door, settings.hub, settings.admin).post))
    spec = document([operation for operation, _ in table], VERSION)

    async def openapi(request: Request) -> Response:
        return answer(spec)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await door.settled.close()

    routes = [Route(op.path, handler, methods=[op.method]) for op, handler in table]
    app = Starlette(
        routes=[*routes, Route("/openapi.json", openapi)],
        exception_handlers={
            Problem: on_problem, Refused: on_refused, HTTPException: on_status, Unreachable: _away, StoreWiped: _away,
            TimeoutError: _away, OSError: _away, Exception: on_failure,
        },
        lifespan=lifespan,
    )  # fmt: skip
    if not settings.insecure:
        app.add_middleware(OwnNames)
    return app


_NAMESPACE = Parameter("namespace", "only those of this namespace")
_LISTING = (
    _NAMESPACE,
    Parameter("state", "only those in these states, separated by commas; live: those that have not ended"),
    Parameter("limit", "how many, 1 to 500 (100)"),
    Parameter("continue", "what the page before said"),
)
_POSTING = (
    Parameter("Idempotency-Key", "the client's own id; the same id with the same body is the same job", "header"),
    Parameter("wait", "admitted: answer when it was queued or refused, or after 5 s"),
    Parameter("dryRun", "true: only say what would be said"),
)
_LAST = Parameter("Last-Event-ID", "go on after this event; absent: from now on", "header")
_ONE = "/v1/jobs/{id}"
_SETTING = Operation(
    "POST", "/v1/settings", "Set a policy, ElasticQuotaTree, Queue, PriorityClass or TenantProfile.",
    {200: (Taken,)}, (), (409, 413, 415, 422, 503), Setting,
)  # fmt: skip
Table = list[tuple[Operation, Handler]]


def _of_jobs(jobs: Jobs, door: Door) -> Table:
    post = Operation(
        "POST", "/v1/jobs", "Submit a job, with its policies beside it if the hub does not have them.",
        {200: (Accepted, Preview), 202: (Accepted,)}, _POSTING, (400, 409, 413, 415, 422, 429, 503), Envelope,
    )  # fmt: skip
    cancelled = {200: (Cancelling,), 202: (Cancelling,)}
    lacking = (404, 503)
    return [
        (post, door.post),
        (Operation("GET", "/v1/jobs", "Jobs, in pages, by id.", {200: (JobPage,)}, _LISTING, (400, 503)), jobs.list),
        (Operation("GET", _ONE, "A job as its events have made it.", {200: (Job,)}, (), lacking), jobs.one),
        (Operation("DELETE", _ONE, "Cancel it.", cancelled, (), lacking), jobs.cancel),
        (Operation("GET", f"{_ONE}/why", "Where it stands, and why.", {200: (Why,)}, (), lacking), jobs.why),
        (Operation("GET", f"{_ONE}/story", "What happened to it.", {200: (Story,)}, (), lacking), jobs.story),
    ]


def _of_fleet(fleet: Fleet, streams: Streams) -> Table:
    text, named = "What happens to a tenant's jobs, as it happens.", (_NAMESPACE, _LAST)
    events = Operation("GET", "/v1/events", text, {200: ()}, named, (400, 503))
    return [
        (Operation("GET", "/v1/queues", "Queues, and who waits.", {200: (QueueList,)}, (), (503,)), fleet.queues),
        (Operation("GET", "/v1/quota", "The quota tree and its use.", {200: (QuotaList,)}, (), (503,)), fleet.quota),
        (Operation("GET", "/v1/clusters", "Clusters, their room.", {200: (ClusterList,)}, (), (503,)), fleet.clusters),
        (events, streams.events),
    ]


async def _away(request: Request, error: Exception) -> Response:
    cause = str(error) or "the working set is being rebuilt from the record"
    return await on_problem(request, away(cause, "nothing was changed; try again"))


class OwnNames:
    """Refuses requests for any host but the loopback's: a page of another site that points its name at this machine
    still sends that name."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _own(Request(scope).headers.get("host", "")):
            await self._app(scope, receive, send)
            return
        problem = Problem(421, "this door answers only to loopback names", "use http://127.0.0.1")
        await (await on_problem(Request(scope), problem))(scope, receive, send)


def _own(host: str) -> bool:
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name in _NAMES:
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
