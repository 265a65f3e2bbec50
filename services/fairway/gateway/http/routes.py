"""The HTTP door: one table of routes, for the router and for the OpenAPI document. Each route names the right that its
caller needs, and nothing here is answered without a caller."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairway.domain.job import Job
from fairway.domain.submission import Submission
from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES
from fairway.explain.story import Story, Why
from fairway.gateway.audit.audit_trail import AuditTrail
from fairway.gateway.callers import caller as rights
from fairway.gateway.callers.access import Callers
from fairway.gateway.callers.gate import Gate, GatePorts
from fairway.gateway.callers.guarded_routes import Handler, check_parameters, guarded
from fairway.gateway.callers.hosts import Hosts, Networks
from fairway.gateway.callers.rate_limits import HttpLimits
from fairway.gateway.counted.measured import Measured
from fairway.gateway.held_objects import HeldAnswer
from fairway.gateway.http.batch import Batch, BatchDoor, BatchResult
from fairway.gateway.http.dry_run import Preview, Understand, preview
from fairway.gateway.http.event_stream import Streams
from fairway.gateway.http.fleet_questions import ClusterList, Configuration, FleetQuestions, QueueList, QuotaList
from fairway.gateway.http.jobs import Cancelling, JobPage, JobQuestions
from fairway.gateway.http.openapi import Operation, Parameter, document
from fairway.gateway.http.problem import Problem, answer, away, on_failure, on_problem, on_refused, on_status
from fairway.gateway.http.request_bodies import Envelope, Reading
from fairway.gateway.http.settings import SettingsDoor, Taken
from fairway.gateway.http.submit import Accepted, Door
from fairway.gateway.record.routes import record_routes
from fairway.gateway.submission_limiter import Limiter
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ports import Ids, StoreWiped, Unreachable, World
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Refused
from fairway.workloads.job_warnings import job_warnings

VERSION = "v1"


class HttpSettings(Struct, frozen=True):
    """`understand` is admission's reading of a message (for dry runs); `configuration` what the hub has set; `callers`
    who may come; `hosts` the names it answers to besides the loopback's. `hub`, where there is one, keeps the settings
    that come over HTTP. `limiter` is shared with the hub's intake. `refused` counts what cannot be read; quota trees
    and queues are taken from namespaces of `admin`. `proxies` are believed about where a request comes from."""

    ids: Ids
    understand: Understand
    configuration: Configuration
    callers: Callers
    hub: Cluster | None = None
    limiter: Limiter | None = None
    limits: HttpLimits = HttpLimits()
    hosts: tuple[str, ...] = ()
    refused: Callable[[Code], None] = lambda code: None
    admin: frozenset[str] = SYSTEM_NAMESPACES.admin
    proxies: Networks = ()


class Setting(Struct, frozen=True):
    """A Kubernetes object of one of these kinds."""

    apiVersion: str
    kind: str
    metadata: dict[str, Any]
    spec: dict[str, Any] = {}


Table = list[tuple[Operation, Handler]]


def create_app(world: World, settings: HttpSettings) -> Starlette:
    door = _door(world, settings)
    jobs = JobQuestions(world, door)
    streams = Streams(world, settings.limits.streams)
    settings.callers.counts.open_streams = lambda: streams.open
    trail = AuditTrail(world)
    table = _of_jobs(jobs, door) + _of_fleet(FleetQuestions(world, settings.configuration), streams)
    setting = SettingsDoor(door, settings.hub, settings.admin, settings.configuration.policies.together, trail)
    table += [(_SETTING, setting.post), *record_routes(world, jobs, door, trail)]
    return _app(table, settings, door, trail)


def _door(world: World, settings: HttpSettings) -> Door:
    rules = settings.configuration

    def foresee(said: Submission) -> Preview:
        message = said.say.message
        assert isinstance(message, wire.Submitted), "that is what a submission says"
        seen = settings.understand(message)
        told = job_warnings(bytes(message.manifest))
        return preview(rules.tenancy(said.tenant), seen, rules.tree, rules.members.clusters, told)

    reading = Reading(world, settings.ids, settings.limits.body, settings.refused)
    return Door(world, reading, foresee, settings.limiter or Limiter(world, lambda: rules.limits))


def _app(table: Table, settings: HttpSettings, door: Door, trail: AuditTrail) -> Starlette:
    spec = document([operation for operation, _ in table], VERSION)

    async def openapi(request: Request) -> Response:
        check_parameters(request, ())
        return answer(spec)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await trail.close()
        await door.settled.close()

    routes = [Route(op.path, guarded(op, handler), methods=[op.method]) for op, handler in table]
    routes.append(Route("/openapi.json", openapi))
    hosts = Hosts(settings.hosts, settings.proxies)
    ports = GatePorts(door.clock, settings.ids, trail)
    return Starlette(
        routes=routes,
        exception_handlers={
            Problem: on_problem,
            Refused: on_refused,
            HTTPException: on_status,
            Unreachable: _away,
            StoreWiped: _away,
            TimeoutError: _away,
            OSError: _away,
            Exception: on_failure,
        },
        lifespan=lifespan,
        middleware=[
            Middleware(Measured, settings.callers.counts, routes),
            Middleware(Gate, settings.callers, hosts, settings.limits, ports),
        ],
    )


_NAMESPACE = Parameter("namespace", "only those of this namespace")
_LISTING = (
    _NAMESPACE,
    Parameter("state", "only those in these states, separated by commas; live: all that have not ended"),
    Parameter("kind", "only those of this kind, such as PyTorchJob"),
    Parameter("name", "only those whose object has this name"),
    Parameter("limit", "how many, 1 to 500 (100)"),
    Parameter("continue", "what the page before said"),
    Parameter("id", "only these, separated by commas, 100 at most; one page"),
)
_POSTING = (
    Parameter("Idempotency-Key", "the client's own id; the same id with the same body is the same job", "header"),
    Parameter("wait", "admitted: answer when it was queued or refused, or after 5 s", values=("admitted",)),
    Parameter("dryRun", "true or All: only say what would be said", values=("true", "All")),
)
_LAST = Parameter("Last-Event-ID", "go on after this event; absent: from now on", "header")
_ONE = "/v1/jobs/{id}"
_BODY = (408, 409, 413, 415, 422)
_SETTING = Operation(
    "POST",
    "/v1/settings",
    rights.SET,
    "Set a policy, ElasticQuotaTree, Queue, PriorityClass or TenantProfile.",
    {200: (Taken,)},
    (),
    _BODY,
    Setting,
)


def _of_jobs(jobs: JobQuestions, door: Door) -> Table:
    post = Operation(
        "POST",
        "/v1/jobs",
        rights.SUBMIT,
        "Submit a job, with its policies beside it if the hub does not have them.",
        {200: (Accepted, Preview), 202: (Accepted,)},
        _POSTING,
        _BODY,
        Envelope,
    )
    batch = Operation(
        "POST",
        "/v1/jobs:batch",
        rights.SUBMIT,
        "Submit up to 100 jobs at once; each has an answer of its own.",
        {200: (BatchResult,)},
        (_POSTING[1],),
        _BODY,
        Batch,
    )
    cancelled = {200: (Cancelling,), 202: (Cancelling,)}
    listed = ("GET", "/v1/jobs", rights.LIST, "Jobs, in pages, by id; before them what is held on the hub.")
    one = "A job as its events have made it, or the object of the hub that it is to stand for, held there."
    read = rights.READ
    why = "Where it stands, and why."
    story = "What happened to it."
    return [
        (post, door.post),
        (batch, BatchDoor(door).post),
        (Operation(*listed, {200: (JobPage,)}, _LISTING, (410,)), jobs.list),
        (Operation("GET", _ONE, read, one, {200: (Job, HeldAnswer)}, (), (404,)), jobs.one),
        (Operation("DELETE", _ONE, rights.CANCEL, "Cancel it.", cancelled, (), (404, 409)), jobs.cancel),
        (Operation("GET", f"{_ONE}/why", read, why, {200: (Why,)}, (), (404,)), jobs.why),
        (Operation("GET", f"{_ONE}/story", read, story, {200: (Story,)}, (), (404,)), jobs.story),
    ]


def _of_fleet(fleet: FleetQuestions, streams: Streams) -> Table:
    text = "What happens to a tenant's jobs, as it happens."
    named = (_NAMESPACE, _LAST)
    queues = Operation("GET", "/v1/queues", rights.QUEUES, "Queues, and who waits.", {200: (QueueList,)})
    quota = Operation("GET", "/v1/quota", rights.QUOTAS, "The quota tree and its use.", {200: (QuotaList,)})
    clusters = Operation("GET", "/v1/clusters", rights.CLUSTERS, "Clusters, their room.", {200: (ClusterList,)})
    events = Operation("GET", "/v1/events", rights.FOLLOW, text, {200: ()}, named)
    return [(queues, fleet.queues), (quota, fleet.quota), (clusters, fleet.clusters), (events, streams.events)]


async def _away(request: Request, error: Exception) -> Response:
    cause = str(error) or "the working set is being rebuilt from the record"
    return await on_problem(request, away(cause, "nothing was changed; try again"))
