"""The one place that chooses adapters: from names of services to loops ready to run."""

import contextlib
import os
from collections.abc import Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from msgspec import Struct, structs

from fairway.adapters.kubernetes import kubeconfig
from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.dead_letters import NatsLetters
from fairway.adapters.remote.cluster import RemoteCluster
from fairway.adapters.system_clock import SystemClock, SystemIds
from fairway.adapters.valkey.store import RedisStore
from fairway.admission.understand import understand
from fairway.agent import Agent, AgentSettings
from fairway.gateway.callers.access import Callers
from fairway.gateway.http.routes import HttpSettings, create_app
from fairway.gateway.service import run_gateway
from fairway.gateway.submission_limiter import Limiter
from fairway.keeper.service import Keeper
from fairway.process.composition import Act, Composition
from fairway.process.fleet_key import SEALERS, fleet_key
from fairway.process.http_callers import callers_known, own_hosts
from fairway.process.members.departures import Departures
from fairway.process.members.enrolment import Enrolment, follow_file, hub_options
from fairway.process.members.pull_mode import JOINED_BY, announce, given_by, keep_informed
from fairway.process.members.token_renewal import Renewal
from fairway.process.pipeline import HUB, KEEPER
from fairway.process.servers.bus_isolation import told_of_doubts
from fairway.process.servers.logins import Again, Logins, follow, logins
from fairway.process.servers.streams import made
from fairway.process.settings import Settings
from fairway.process.telemetry.telemetry import Telemetry
from fairway.propagator.held_room import PAUSE
from fairway.queue.memory import QueueMemory
from fairway.replay.stages import STAGES
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Unreachable, World
from fairway.runtime.views.members import Members
from fairway.runtime.views.recorder import Recorder
from fairway.runtime.views.recording_limits import RecordedShare, RecordingLimits
from fairway.runtime.views.settings import Catalog
from fairway.watcher.silence import LIST_MS
from fairway.wire.subjects import JOBS

log = structlog.get_logger()
# Who speaks with member clusters. They and the gateway speak with the hub, and nobody else needs its credentials.
WITH_MEMBERS = {"agent", "propagator", "watcher"}


class Parts(Struct):
    """What a process is made of. `loops` by service; `tasks` run beside them until the process ends. What callers
    of HTTP read goes over `readers`, a connection of the gateway's that no service shares."""

    settings: Settings
    bus: NatsBus
    clock: SystemClock
    ids: SystemIds
    catalog: Catalog
    telemetry: Telemetry
    enrolment: Enrolment
    hub: KubernetesCluster | None
    loops: dict[str, Loop]
    stores: list[RedisStore]
    queues: list[QueueMemory]
    key: bytes = b""
    readers: NatsBus | None = None
    act: Act | None = None
    views: bool = False
    logins: Logins = Logins()

    @property
    def clusters(self) -> Members:
        return self.enrolment.members

    def world(self) -> World:
        """Ports for one loop. A store of its own each: each has to notice by itself that its store was wiped."""
        store = RedisStore(self.settings.redis_url, login=self.logins.valkey)
        self.stores.append(store)
        return World(bus=self.bus, store=store, clock=self.clock, owner=self.ids.new())

    async def count_letters(self) -> None:
        """For a scrape; while the bus is away the last counts stand."""
        if self.bus.connected:
            with contextlib.suppress(Unreachable):
                self.meter.letters(await NatsLetters(self.bus).counts())

    def doors(self, process: Any) -> list[Coroutine[Any, Any, None]]:
        """What runs beside the loops: the gateway, an agent for every member cluster, and who is one."""
        tasks: list[Coroutine[Any, Any, None]] = []
        if self.readers is not None:
            limiter = Limiter(self.world(), lambda: self.catalog.limits)
            door = structs.replace(self.world(), bus=self.bus.with_past_of(self.readers))
            process.door = create_app(door, http_settings(self, limiter))
            tasks.append(run_gateway(self.hub, self.clock, process.url))
        if "agent" in process.names:
            tasks.append(self.clusters.follow(self._agent, facts=True))
        if KEEPER in process.names:
            tasks.append(self._keeping())
        return tasks + self._enrolling(process.names)

    async def _keeping(self) -> None:
        await self.bus.erase(JOBS, 2**62)  # where nothing is: a missing right is not to show a month later
        await Keeper(self.bus, self.clock, self.settings.manifests_kept * 1000).run()

    @property
    def meter(self) -> Meter:
        return self.telemetry.meter

    def _enrolling(self, names: Sequence[str]) -> list[Coroutine[Any, Any, None]]:
        tasks: list[Coroutine[Any, Any, None]] = []
        if self.hub is not None:
            tasks.append(follow_file(Path(self.settings.hub_kubeconfig), self.hub))
        if self.act is not None or WITH_MEMBERS.isdisjoint(names):
            return tasks
        tasks.append(self.enrolment.follow_folder())
        if self.hub is not None:
            tasks.append(self.enrolment.follow_hub(self.hub))
            if "agent" in names:
                tasks.append(Renewal(self.enrolment, self.hub, self.clock, os.getpid()).run())
            if "agent" in names and not self.settings.only_cluster:
                tasks.append(Departures(self.bus, self.clock, self.enrolment).run())
        return tasks

    async def _agent(self, cluster: Cluster) -> None:
        """Beside a member in pull mode an agent runs already; it is told what was said of its cluster."""
        facts = self.clusters.facts(cluster.name)
        joined = cluster.name in self.enrolment.secrets
        await announce(self.bus, cluster.name, facts, self.clock, JOINED_BY if joined else given_by(cluster.name))
        if isinstance(cluster, RemoteCluster):
            await keep_informed(cluster, facts, self.clock)
        mode = facts.mode if joined else ""
        said = AgentSettings(facts, mode, stranded=self.settings.node_grace)
        await Agent(cluster, self.bus, self.clock, self.ids, said).run()

    def credentials(self, broker: Again) -> list[Coroutine[Any, Any, None]]:
        """What watches the files of credentials; `broker` is one more connection to NATS."""
        of_nats = [self.bus.log_in_again, broker, *([self.readers.log_in_again] if self.readers is not None else [])]
        return [
            follow(login, connections)
            for login, connections in (
                (self.logins.nats, lambda: of_nats),
                (self.logins.valkey, lambda: [one.log_in_again for one in self.stores]),
            )
            if login is not None
        ]

    async def close(self) -> None:
        await self.enrolment.close()
        if self.hub is not None:
            await self.hub.close()
        for store in self.stores:
            await store.close()
        if self.readers is not None:
            await self.readers.close()
        await self.bus.close()


async def build(names: Sequence[str], settings: Settings, act: Act | None = None) -> Parts:
    """Connects to the bus (waiting for it as long as it takes) and makes the loops of the named services. With `act`
    there are no members: it does what would be done there."""
    known = logins(settings)
    bus = await NatsBus.connect(settings.nats_url, f"fairway-{'-'.join(names)}", login=known.nats)
    says_views = settings.views_mib and not {one.service for one in STAGES.values()}.isdisjoint(names)
    views = await made(bus, bool(says_views))
    await told_of_doubts(bus)
    enrolment = Enrolment(settings, bus)
    with_members = act is None and not WITH_MEMBERS.isdisjoint(names)
    with_hub = settings.hub_kubeconfig and not {*WITH_MEMBERS, "gateway", HUB}.isdisjoint(names)
    if with_members or with_hub:
        kubeconfig.load()
    hub = await _hub(settings) if with_hub else None
    if with_members:
        await enrolment.read_folder()
    catalog = Catalog(settings.namespaces.reserved)
    key = await fleet_key(settings, hub) if with_members and SEALERS & {*names} else b""
    telemetry = Telemetry(catalog, enrolment if "agent" in names else None)
    base = (settings, bus, SystemClock(), SystemIds(), catalog, telemetry, enrolment, hub)
    parts = Parts(*base, {}, [], [], key, act=act, views=views, logins=known)
    if "gateway" in names:
        parts.readers = await NatsBus.connect(settings.nats_url, "fairway-gateway-readers", login=known.nats)
    for service in composition(parts).services(names):
        loop = parts.loops[service.name] = Loop(service, parts.world(), parts.meter)
        parts.telemetry.follow(loop, lambda: bus.connected)
    return parts


def http_settings(parts: Parts, limiter: Limiter) -> HttpSettings:
    """A dry run over HTTP reads a manifest as admission does, with the settings that this process knows."""
    of = parts.settings
    come = Callers(parts.clock, parts.hub, callers_known(of))
    parts.meter.sources.all.append(come.counts.samples)
    read = partial(understand, cause="dry-run", sequence=0, settings=parts.catalog)
    return HttpSettings(
        parts.ids,
        read,
        parts.catalog,
        come,
        parts.hub,
        limiter,
        of.limits,
        own_hosts(of),
        parts.meter.refused,
        of.namespaces.admin,
        of.http_proxies,
    )


async def _hub(settings: Settings) -> KubernetesCluster:
    return await KubernetesCluster.from_kubeconfig("hub", Path(settings.hub_kubeconfig), hub_options(settings))


def composition(parts: Parts) -> Composition:
    """What the services of this process are made from."""

    def image(member: str) -> str:
        return parts.clusters.facts(member).placeholder_image or parts.settings.placeholder_image or PAUSE

    def recording(service: str) -> Recorder | None:
        if not parts.views or service not in STAGES:
            return None
        limits = RecordingLimits(RecordedShare(parts.settings.views_share))
        return Recorder((service, parts.ids.new()), parts.bus, parts.catalog, limits)

    return Composition(
        parts.world,
        parts.bus,
        parts.clock,
        parts.catalog,
        parts.meter,
        parts.clusters,
        parts.key,
        parts.hub,
        parts.queues,
        recording,
        image,
        parts.act,
        settle_ms=round(parts.settings.watch_silence * 1000) + LIST_MS,
        namespaces=parts.settings.namespaces,
        weights=parts.settings.weights,
    )
