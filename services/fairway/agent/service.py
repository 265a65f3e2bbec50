"""The agent at work: follows nodes and pods, says what changed, and that it still sees."""

import asyncio

import msgspec
import structlog

from fairway.agent.hold_ways import ways
from fairway.agent.report import Seen, parts
from fairway.agent.settings import AgentSettings
from fairway.domain.events import message_id
from fairway.runtime.cluster_port import Change, Cluster, ClusterRefused
from fairway.runtime.ports import Bus, Clock, Ids, Outgoing, Unreachable
from fairway.runtime.record.publishable import Unsayable
from fairway.wire import subjects
from fairway.wire.capacity import RESERVATIONS
from fairway.wire.envelope import Actor
from fairway.wire.fleet import Configured, Report, Stranded

log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode
_NODE, _POD, _RESERVATION = "Node.v1", "Pod.v1", "Reservation.scheduling.koordinator.sh/v1alpha1"
_RETRY_S = 0.5


class Agent:
    """One cluster's agent. `why` says what it waits for; empty while it is ready."""

    def __init__(self, cluster: Cluster, bus: Bus, clock: Clock, ids: Ids, settings: AgentSettings) -> None:
        self._cluster, self._bus, self._clock, self._settings = cluster, bus, clock, settings
        self._epoch = ids.new()
        # In every message's id and nowhere else. Other members publish into the same streams: who could tell the next
        # id would have it taken for said, and a member may not read back what a stream has under it.
        self._secret = ids.new()
        self._sequence = 0
        self._seen = Seen()
        self._kinds: tuple[str, ...] = ()
        self._holds: tuple[str, ...] = ()
        self._full = True
        self._beat = False
        self._away = ""
        self._bus_away = ""
        self._synced: set[str] = set()
        self._complete = asyncio.Event()
        self._due = asyncio.Event()

    @property
    def why(self) -> str:
        if self._away or self._bus_away:
            return self._away or self._bus_away
        return "" if self._complete.is_set() else f"listing the nodes and pods of {self._cluster.name}"

    @property
    def ready(self) -> bool:
        return not self.why

    async def run(self) -> None:
        """Until cancelled. Neither an API nor a bus that is away ends it."""
        while not await self._discover():
            await self._clock.sleep(1.0)
        await self._bus.answer(subjects.resync(self._cluster.name), self._asked)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(_NODE))
            group.create_task(self._follow(_POD))
            group.create_task(self._probe())
            group.create_task(self._rediscover(group))
            group.create_task(self._report())
            group.create_task(self._warn())

    async def _asked(self, _: bytes) -> bytes:
        self._full = True
        self._due.set()
        return b"{}"

    async def _follow(self, kind: str) -> None:
        async for change in self._cluster.watch(kind):
            if change.synced:
                self._synced.add(kind)
                if {_NODE, _POD} <= self._synced:
                    self._complete.set()
            else:
                self._hear(change)
            if self._full or self._seen.anything:
                self._due.set()

    def _hear(self, change: Change) -> None:
        manifest = None if change.gone else change.manifest
        try:
            self._tell(change, manifest)
        except msgspec.ValidationError as error:
            log.warning("passed over", cluster=self._cluster.name, kind=change.kind, name=change.name, cause=str(error))
            self._tell(change, None)

    def _tell(self, change: Change, manifest: dict[str, object] | None) -> None:
        if change.kind == _NODE:
            self._seen.node(change.name, manifest)
        elif change.kind == _RESERVATION:
            self._seen.reservation(change.name, manifest)
        else:
            self._seen.pod(change.namespace, change.name, manifest)

    async def _discover(self) -> bool:
        """Which kinds are served now, and how room can be held; False when the API did not say."""
        try:
            served = await self._cluster.served()
            holds = await ways(self._cluster, self._settings.reserve, self._clock.now())
        except (Unreachable, ClusterRefused) as error:
            self._lost(str(error))
            return False
        if (served, holds) != (self._kinds, self._holds):
            self._kinds, self._holds, self._beat = served, holds, True
            self._due.set()
        return True

    async def _rediscover(self, group: asyncio.TaskGroup) -> None:
        followed = False
        while True:
            if RESERVATIONS in self._holds and not followed:
                followed = True
                group.create_task(self._follow(_RESERVATION))
            await self._clock.sleep(self._settings.discover)
            await self._discover()

    async def _probe(self) -> None:
        """A heartbeat vouches for what was reported, so it is only said when the API answers. Any answer will do."""
        while True:
            try:
                async with asyncio.timeout(self._settings.heartbeat):
                    await self._cluster.get("Namespace.v1", "", "default")
            except (Unreachable, TimeoutError) as error:
                self._lost(str(error) or f"no answer within {self._settings.heartbeat} s")
            except ClusterRefused:
                self._found()
            else:
                self._found()
            await self._clock.sleep(self._settings.heartbeat)

    def _lost(self, cause: str) -> None:
        if not self._away:
            log.warning("cluster API is away: no reports until it is back", cluster=self._cluster.name, cause=cause)
        self._away = f"the API of {self._cluster.name} does not answer: {cause}"

    def _found(self) -> None:
        if self._away:
            log.info("cluster API answers", cluster=self._cluster.name)
        self._away = ""
        self._beat = True
        self._due.set()

    async def _report(self) -> None:
        await self._complete.wait()
        while not await self._said([self._introduction()]):
            await self._clock.sleep(_RETRY_S)
        while True:
            await self._due.wait()
            await self._clock.sleep(self._settings.coalesce)
            self._due.clear()
            if self._away or not (self._full or self._beat or self._seen.anything):
                continue
            if not await self._said(self._messages()):
                # Nobody knows which of them arrived. Only the newest state is kept, and all of it is said next.
                self._full = True
                await self._clock.sleep(_RETRY_S)
                self._due.set()

    async def _warn(self) -> None:
        """With each heartbeat, which attempts are on nodes that are away: whoever has heard it hears it again."""
        await self._complete.wait()
        subject = subjects.cluster(Stranded.verb, self._cluster.name)
        count = 0
        while True:
            await self._clock.sleep(self._settings.heartbeat)
            now = self._clock.now()
            found = () if self._away else self._seen.stranded(now, int(self._settings.stranded * 1000))
            if found:
                count += 1
                message = Stranded(at=now, cluster=self._cluster.name, attempts=found)
                await self._said([self._outgoing(f"stranded-{count}", subject, message)])

    async def _said(self, messages: list[Outgoing]) -> bool:
        """Whether the bus has them all."""
        try:
            await self._bus.publish(messages)
        except (Unreachable, Unsayable) as error:
            if not self._bus_away:
                log.warning("bus is away: keeping the newest state", cluster=self._cluster.name, cause=str(error))
            self._bus_away = f"the bus does not answer: {error}"
            return False
        self._bus_away = ""
        return True

    def _introduction(self) -> Outgoing:
        """So that the fleet knows the cluster by name, before and after its reports."""
        name, settings = self._cluster.name, self._settings
        joined = {"mode": settings.mode} if settings.mode else {}
        manifest = msgspec.Raw(_encode({"labels": settings.labels, "taints": settings.taints, **joined}))
        who = Actor(f"cluster:{name}", "agent", self._epoch)
        message = Configured(at=self._clock.now(), kind="Cluster", name=name, manifest=manifest, who=who)
        return self._outgoing("configured", subjects.config("Cluster", "", name), message)

    def _messages(self) -> list[Outgoing]:
        """One report, or several when it is large: then a full one lists the first nodes and deltas add the rest."""
        full, self._full, self._beat = self._full, False, False
        nodes, gone = self._seen.take(full)
        subject = subjects.cluster(Report.verb, self._cluster.name)
        messages = []
        for index, rows in enumerate(parts(nodes, self._settings.most_bytes)):
            self._sequence += 1
            report = Report(
                at=self._clock.now(),
                cluster=self._cluster.name,
                epoch=self._epoch,
                sequence=self._sequence,
                full=full and index == 0,
                nodes=rows,
                gone=() if index else gone,
                labels=self._settings.labels,
                taints=self._settings.taints,
                kinds=self._kinds,
                kubernetes=self._seen.kubernetes,
                holds=self._holds,
                cordoned=self._settings.cordoned,
                mode=self._settings.mode,
            )
            messages.append(self._outgoing(str(self._sequence), subject, report))
        return messages

    def _outgoing(self, what: str, subject: str, message: Configured | Report | Stranded) -> Outgoing:
        name = message_id("agent", self._cluster.name, self._secret, what)
        kind = "fairway." + ".".join(subject.split(".")[1:3])
        source = f"/fairway/agent/{subjects.token(self._cluster.name)}"
        return Outgoing(name, subject, _encode(message), kind, source, unguessable=True)


async def run_agent(cluster: Cluster, bus: Bus, clock: Clock, ids: Ids, settings: AgentSettings) -> None:
    """Until cancelled."""
    await Agent(cluster, bus, clock, ids, settings).run()
