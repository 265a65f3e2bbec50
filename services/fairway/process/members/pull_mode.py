"""`fairway run member --cluster NAME`: beside a member in pull mode. It reports, and does what is asked over the bus.

It needs its own cluster's API and the bus; nothing has to reach it, and it has no way to the hub or the store.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.remote.cluster import RemoteCluster
from fairway.adapters.remote.member_side import Serving
from fairway.adapters.system_clock import SystemClock, SystemIds
from fairway.agent import Agent, AgentSettings
from fairway.domain.events import message_id
from fairway.domain.tenancy.profile import HOME
from fairway.gateway.callers.hosts import Hosts
from fairway.process.failed_part import part_failed
from fairway.process.http_callers import own_hosts
from fairway.process.http_server import ListeningServer, told_to_end
from fairway.process.members.enrolment import follow_file, member_options
from fairway.process.readiness import readiness
from fairway.process.servers.logins import follow, logins
from fairway.process.settings import Settings
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Bus, Clock, Outgoing, Unreachable
from fairway.runtime.retry import until_reached
from fairway.runtime.views.members import Facts, Members
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from fairway.wire.fleet import Configured

log = structlog.get_logger()
_INFORM_S = 10.0
_AGAIN_S = 2.0


# Where the Secrets of joined clusters are: the hub does not tell who wrote one.
JOINED_BY = Actor(f"hub:{HOME}", "hub")


def given_by(name: str) -> Actor:
    """Of a cluster whose kubeconfig lies in a folder: whoever runs its agent has put it there."""
    return Actor(f"cluster:{name}", "agent")


async def announce(bus: Bus, name: str, facts: Facts, clock: Clock, who: Actor) -> None:
    """For the hub's side: what was said of a cluster when it joined, where no member may speak. It counts, whatever
    the cluster's own agent says."""
    now = clock.now()
    subject = subjects.config("Member", "", name)
    said = Configured(at=now, kind="Member", name=name, manifest=msgspec.Raw(msgspec.json.encode(facts)), who=who)
    data = msgspec.json.encode(said)
    kind = "fairway.config.Member"
    word = Outgoing(message_id("member", name, now), subject, data, kind, "/fairway/agent")
    await until_reached(f"agent of {name}", clock, lambda: bus.publish([word]), _AGAIN_S)


async def keep_informed(cluster: RemoteCluster, facts: Facts, clock: Clock) -> None:
    """For the hub's side: says again and again what was said of the cluster, for the other side may start anew."""
    told = True
    while True:
        try:
            await cluster.inform(facts)
            told = True
        except (Unreachable, ClusterRefused) as error:
            if told:
                log.warning("waiting", service="agent", cluster=cluster.name, cause=str(error))
            told = False
        await clock.sleep(_INFORM_S if told else _AGAIN_S)


class MemberSide:
    """One cluster's agent and its serving end. The agent waits for what the hub says of the cluster."""

    def __init__(self, cluster: KubernetesCluster, bus: NatsBus, settings: Settings) -> None:
        self._cluster = cluster
        self._bus = bus
        self._settings = settings
        self._members = Members()
        self._agent: Agent | None = None
        self.known = asyncio.Event()

    @property
    def waiting(self) -> str:
        """What readiness still lacks; empty when nothing does."""
        if not self._bus.connected:
            return "the bus is away"
        if self._agent is None:
            return f"nobody has said yet what {self._cluster.name} is: has it joined with --mode pull?"
        return self._agent.why or "; ".join(self._cluster.lacking())

    def _take(self, said: Any) -> None:
        facts = msgspec.convert(said, Facts)
        if self._cluster.name not in self._members or facts != self._members.facts(self._cluster.name):
            self._members.put(self._cluster, facts)
        self.known.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(Serving(self._cluster, self._bus.client, self._take).run())
            group.create_task(self._members.follow(self._report, facts=True))

    async def _report(self, cluster: Cluster) -> None:
        facts = self._members.facts(cluster.name)
        said = AgentSettings(facts, facts.mode, stranded=self._settings.node_grace)
        self._agent = Agent(cluster, self._bus, SystemClock(), SystemIds(), said)
        await self._agent.run()


async def run_member(settings: Settings, ready: Callable[[dict[str, Any]], None]) -> None:
    """Until SIGTERM or SIGINT. ValueError when no cluster is named or its kubeconfig is not there."""
    name = settings.only_cluster
    if not name:
        raise ValueError("which cluster is this? name it with --cluster")
    cluster, path = await _opened(name, settings)
    asyncio.get_running_loop().set_exception_handler(part_failed)
    inbox = f"_INBOX_{subjects.token(name)}"
    login = logins(settings).nats
    bus = await NatsBus.connect(settings.nats_url, f"fairway-member-{name}", inbox=inbox, login=login)
    side = MemberSide(cluster, bus, settings)
    server = ListeningServer(_http(side, settings))
    tasks = [asyncio.create_task(one) for one in (side.run(), server.serve(), told_to_end())]
    if path is not None:
        tasks.append(asyncio.create_task(follow_file(path, cluster)))
    if login is not None:
        tasks.append(asyncio.create_task(follow(login, lambda: (bus.log_in_again,))))
    try:
        await asyncio.wait([asyncio.create_task(side.known.wait()), *tasks], return_when=asyncio.FIRST_COMPLETED)
        ready({"ready": side.known.is_set(), "cluster": name})
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await cluster.close()
        await bus.close()


async def _opened(name: str, settings: Settings) -> tuple[KubernetesCluster, Path | None]:
    """With the kubeconfig of the folder, or as the pod that this process runs in."""
    path = settings.members().get(name)
    if path is not None:
        return await KubernetesCluster.from_kubeconfig(name, path, member_options(settings, loopback=True)), path
    if "KUBERNETES_SERVICE_HOST" not in os.environ:
        raise ValueError(f"there is no {name}.kubeconfig in FAIRWAY_CLUSTERS_DIR, and this is no pod of a cluster")
    folder = Path(settings.service_account)
    return await KubernetesCluster.in_cluster(name, member_options(settings, loopback=True), folder), None


def _http(side: MemberSide, settings: Settings) -> uvicorn.Config:
    async def alive(request: Request) -> JSONResponse:
        return JSONResponse({"alive": True})

    hosts = Hosts(own_hosts(settings))

    async def ready(request: Request) -> JSONResponse:
        return readiness(request, hosts, side.waiting)

    app = Starlette(routes=[Route("/healthz", alive), Route("/readyz", ready)])
    return uvicorn.Config(
        app, host=settings.http_host, port=settings.http_port, log_level=logging.ERROR, lifespan="off"
    )
