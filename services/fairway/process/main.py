"""A process: some services, alive until it is told to end. FastStream keeps its life, health and control plane.

The HTTP side answers from the first moment: while the bus or the store is away, /readyz says so. Metrics have a port of
their own.
"""

import asyncio
import contextlib
import gc
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import structlog
import uvicorn
from faststream.asgi import AsgiFastStream
from prometheus_client import CollectorRegistry
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.gateway.callers.hosts import Hosts
from fairway.process.composition import Act
from fairway.process.failed_part import part_failed
from fairway.process.fleet_key import key_known
from fairway.process.http_callers import callers_known, own_hosts
from fairway.process.http_server import ListeningServer, config, told_to_end
from fairway.process.metrics_port import HEALTH, App, MetricsPage, Receive, Scope, Send
from fairway.process.pipeline import EVERYTHING, HUB, KEEPER
from fairway.process.queue_places import answers
from fairway.process.readiness import readiness
from fairway.process.servers.control_plane import control_plane, log_in_again
from fairway.process.settings import Settings
from fairway.process.wiring import Parts, build
from fairway.runtime.vital_tasks import ended, fail, vital

log = structlog.get_logger()
# What all get when the process is told to end: less than `docker stop` waits before it kills.
_END_S = 5.0
Ready = Callable[[dict[str, Any]], None]


class Process(AsgiFastStream):
    """`door` takes every path that is not the process's own; `waiting` says what readiness still lacks; `url` is where
    others reach it, empty when that is not known."""

    def __init__(self, names: Sequence[str], settings: Settings, act: Act | None = None) -> None:
        self.names = tuple(names)
        self.settings = settings
        self.act = act
        self.parts: Parts | None = None
        self.door: App | None = None
        self.url = settings.public_url
        self._hosts = Hosts(own_hosts(settings))
        self.ends = False
        broker = self.control = control_plane(settings, self._closed)
        if "queue" in names:
            answers(broker, lambda: self.parts)
        super().__init__(broker, asgi_routes=[("/healthz", _alive), ("/readyz", self._readiness)], logger=None)

    async def _closed(self) -> None:
        """Whom NATS turns out, it may let in when the process begins anew."""
        if not self.ends:
            fail("control plane", ConnectionError("NATS has closed its connection for good"))

    @property
    def needs_settings(self) -> bool:
        """The keeper knows the record alone."""
        return {*self.names} != {KEEPER}

    def waiting(self) -> list[str]:
        if self.parts is None:
            return ["the bus does not answer yet, or `fairway setup` was not run; the log says which"]
        lacking = [f"{name}: {loop.waiting}" for name, loop in self.parts.loops.items() if loop.waiting]
        if not self.parts.bus.connected:
            lacking.append("the bus is away")
        if self.needs_settings and not self.parts.catalog.known.is_set():
            lacking.append("the fleet's settings have not been read")
        lacking += self.parts.hub.lacking() if self.parts.hub is not None else []
        # Whoever comes to the door is not turned away for what one member answers.
        return lacking if "gateway" in self.names else lacking + self.members()

    def members(self) -> list[str]:
        """Which members answer and cannot be listed, with the kind."""
        known = self.parts.clusters.values() if self.parts is not None else ()
        return [one for cluster in known if isinstance(cluster, KubernetesCluster) for one in cluster.lacking()]

    async def _readiness(self, scope: Scope, receive: Receive, send: Send) -> None:
        about = {"services": self.names, "members": self.members()}
        await readiness(Request(scope), self._hosts, self.waiting(), **about)(scope, receive, send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in HEALTH and self.door is not None:
            with contextlib.suppress(ClientDisconnect):  # who leaves in the middle is no fault of the process
                await self.door(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

    async def counted(self) -> CollectorRegistry | None:
        """What there is to count; None before the bus was reached."""
        if self.parts is None:
            return None
        if "gateway" in self.names:  # of the fleet's, so one process tells
            await self.parts.count_letters()
        return self.parts.meter.registry


async def _alive(scope: Scope, receive: Receive, send: Send) -> None:
    await Response("alive\n")(scope, receive, send)


async def run(names: Sequence[str], settings: Settings, ready: Ready | None = None, act: Act | None = None) -> None:
    """Runs until SIGTERM, SIGINT or a failure. `ready` is told once everything works, with the HTTP address. `act`
    stands in the place of all calls to members. ValueError when the gateway could not tell who comes, the hub's
    service has no hub, or the fleet's key no place."""
    if "gateway" in names:
        callers_known(settings)
    names = with_hub(names, settings)
    time_known(names, settings)
    if act is None:
        key_known(names, settings)
    process = Process(names, settings, act)
    server = ListeningServer(config(process, (settings.http_host, settings.http_port), settings.limits))
    watched = _metrics(process, settings)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve())
        watching = group.create_task(watched.serve())
        working = group.create_task(_work(process, (server, watched), ready))
        ending = group.create_task(told_to_end())
        await asyncio.wait((serving, watching, working, ending), return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        process.ends = True
        try:
            async with asyncio.timeout(_END_S):
                await ended(working, _END_S)
                server.should_exit = watched.should_exit = True
                await asyncio.wait((working, serving, watching))
        except TimeoutError:
            log.warning("not every part has ended in order: the process ends", services=names)
            os._exit(0)


def with_hub(names: Sequence[str], settings: Settings) -> Sequence[str]:
    """Where all services are asked for it is left out without a hub; who asks for it by its name has forgotten the
    setting."""
    if HUB not in names or settings.hub_kubeconfig:
        return names
    if not {*EVERYTHING} <= {*names}:
        raise ValueError(
            "the service hub has nothing to do without a hub; set FAIRWAY_HUB_KUBECONFIG to a kubeconfig of the "
            "cluster where tenants apply their jobs, or leave hub out: without one jobs come by HTTP and the bus only"
        )
    return tuple(name for name in names if name != HUB)


def time_known(names: Sequence[str], settings: Settings) -> None:
    """Where manifests are kept for ever nobody keeps them."""
    if KEEPER in names and not settings.manifests_kept:
        raise ValueError(
            "the service keeper has nothing to do where manifests are kept for ever; set FAIRWAY_MANIFESTS_KEPT to the "
            "time after the end of a job for which its manifest stays in the record, such as 30d, or leave keeper out"
        )


def _metrics(process: Process, settings: Settings) -> ListeningServer:
    page = MetricsPage(settings.metrics_host, process.counted, process)
    host = settings.metrics_host
    port = settings.metrics_port
    return ListeningServer(uvicorn.Config(page, host=host, port=port, log_level="error", lifespan="off"))


async def _work(process: Process, servers: tuple[ListeningServer, ListeningServer], ready: Ready | None) -> None:
    for one in servers:
        await one.listening.wait()
    server, watched = servers
    host = process.settings.http_host
    if not process.url and host not in ("0.0.0.0", "::"):
        process.url = server.address
    asyncio.get_running_loop().set_exception_handler(part_failed)
    parts = process.parts = await build(process.names, process.settings, process.act)
    calm_collector()
    try:
        async with asyncio.TaskGroup() as group:
            if process.needs_settings:
                group.create_task(vital("catalog", parts.catalog.run(parts.bus, parts.clock)))
                await parts.catalog.known.wait()
            for name, loop in parts.loops.items():
                group.create_task(vital(name, loop.run()))
            beside = (*parts.doors(process), *parts.telemetry.tasks(parts.bus))
            for task in (*beside, *parts.credentials(partial(log_in_again, process.control))):
                group.create_task(vital(getattr(task, "__qualname__", "door"), task))
            if ready is not None:
                while process.waiting():
                    await asyncio.sleep(0.02)
                addresses = {"http": server.address, "metrics": watched.address}
                ready({"ready": True, **addresses, "services": process.names})
    finally:
        await parts.close()


def calm_collector() -> None:
    """What was loaded to start stays; what a batch makes is mostly gone by itself when the batch is, or half a second
    later, when it has been recorded. With the default (a look every 700 new objects) a tenth of a busy process's time
    is spent looking, and with 50,000, fewer than are on their way to the record, a twentieth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 200, 100)
