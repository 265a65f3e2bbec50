"""The agent at work: follows nodes and pods, says what changed, and that it still sees."""

import asyncio

import msgspec
import structlog
from msgspec import Struct

from fairway.agent.batch_profile import converts
from fairway.agent.messages import AgentMessages, Offer
from fairway.agent.report import Seen
from fairway.agent.reservation_ways import ways
from fairway.agent.settings import AgentSettings
from fairway.runtime.cluster_port import Change, Cluster, ClusterRefused
from fairway.runtime.ports import Bus, Clock, Ids, Outgoing, Unreachable
from fairway.runtime.record.publishable import Unsayable
from fairway.wire import subjects
from fairway.wire.capacity import RESERVATIONS

log = structlog.get_logger()
_NODE = "Node.v1"
_POD = "Pod.v1"
_RESERVATION = "Reservation.scheduling.koordinator.sh/v1alpha1"
_RETRY_S = 0.5


class _Away(Struct):
    """Why it waits for the cluster's API, and for the bus; empty while they answer."""

    api: str = ""
    bus: str = ""


class _Listed:
    """The kinds of which everything that is there was told; `complete` when a report can be made of them."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self.complete = asyncio.Event()

    def add(self, kind: str) -> None:
        self._kinds.add(kind)
        if {_NODE, _POD} <= self._kinds:
            self.complete.set()


class _Due:
    """Something is to be said `now`: a report of everything (`full`), that it still sees, or what has changed."""

    def __init__(self) -> None:
        self.full = True
        self._beat = False
        self.now = asyncio.Event()

    @property
    def anything(self) -> bool:
        return self.full or self._beat

    def beat(self) -> None:
        self._beat = True
        self.now.set()

    def taken(self) -> bool:
        """It is being said; whether it is to be everything."""
        full = self.full
        self.full = False
        self._beat = False
        return full


class Agent:
    """One cluster's agent. `why` says what it waits for; empty while it is ready."""

    def __init__(self, cluster: Cluster, bus: Bus, clock: Clock, ids: Ids, settings: AgentSettings) -> None:
        self._cluster = cluster
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._messages = AgentMessages(cluster.name, clock, ids, settings)
        self._seen = Seen()
        self._offer = Offer()
        self._away = _Away()
        self._listed = _Listed()
        self._due = _Due()

    @property
    def why(self) -> str:
        if self._away.api or self._away.bus:
            return self._away.api or self._away.bus
        return "" if self._listed.complete.is_set() else f"listing the nodes and pods of {self._cluster.name}"

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
        self._due.full = True
        self._due.now.set()
        return b"{}"

    async def _follow(self, kind: str) -> None:
        async for change in self._cluster.watch(kind):
            if change.synced:
                self._listed.add(kind)
            else:
                self._hear(change)
            if self._due.full or self._seen.anything:
                self._due.now.set()

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
            holds = await ways(self._cluster, self._settings.facts.reserve, self._clock.now())
            batch = self._seen.lists_batch and await converts(self._cluster)
        except (Unreachable, ClusterRefused) as error:
            self._lost(str(error))
            return False
        if (offer := Offer(served, holds, batch)) != self._offer:
            self._offer = offer
            self._seen.tell_batch(batch)
            self._due.beat()
        return True

    async def _rediscover(self, group: asyncio.TaskGroup) -> None:
        followed = False
        while True:
            if RESERVATIONS in self._offer.holds and not followed:
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
        if not self._away.api:
            log.warning("cluster API is away: no reports until it is back", cluster=self._cluster.name, cause=cause)
        self._away.api = f"the API of {self._cluster.name} does not answer: {cause}"

    def _found(self) -> None:
        if self._away.api:
            log.info("cluster API answers", cluster=self._cluster.name)
        self._away.api = ""
        self._due.beat()

    async def _report(self) -> None:
        await self._listed.complete.wait()
        if self._seen.lists_batch:
            await self._discover()
        while not await self._said([self._messages.introduction()]):
            await self._clock.sleep(_RETRY_S)
        while True:
            await self._due.now.wait()
            await self._clock.sleep(self._settings.coalesce)
            self._due.now.clear()
            if self._away.api or not (self._due.anything or self._seen.anything):
                continue
            if not await self._said(self._messages.reports(self._seen, self._offer, self._due.taken())):
                # Nobody knows which of them arrived. Only the newest state is kept, and all of it is said next.
                self._due.full = True
                await self._clock.sleep(_RETRY_S)
                self._due.now.set()

    async def _warn(self) -> None:
        """With each heartbeat, which attempts are on nodes that are away: whoever has heard it hears it again."""
        await self._listed.complete.wait()
        while True:
            await self._clock.sleep(self._settings.heartbeat)
            now = self._clock.now()
            found = () if self._away.api else self._seen.stranded(now, int(self._settings.stranded * 1000))
            if found:
                await self._said([self._messages.stranded(found, now)])

    async def _said(self, messages: list[Outgoing]) -> bool:
        """Whether the bus has them all."""
        try:
            await self._bus.publish(messages)
        except (Unreachable, Unsayable) as error:
            if not self._away.bus:
                log.warning("bus is away: keeping the newest state", cluster=self._cluster.name, cause=str(error))
            self._away.bus = f"the bus does not answer: {error}"
            return False
        self._away.bus = ""
        return True
