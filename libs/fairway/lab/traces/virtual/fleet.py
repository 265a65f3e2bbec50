"""A fleet on a virtual clock: every service of the pipeline once, in one process, over a bus and a store in memory."""

import asyncio
from collections.abc import Callable, Sequence

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.agent.service import Agent
from fairway.agent.settings import AgentSettings
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.simulation.virtual_time import VirtualClock
from fairway.lab.traces.virtual.member import TraceMember
from fairway.process.composition import Composition
from fairway.process.pipeline import STAGES
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import World
from fairway.runtime.views.members import Members
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot

KEY = b"the key of a fleet on a virtual clock"
# What goes by the clock comes this much more seldom: nothing is lost here that sweeps would find. The queue also looks
# by the clock for whose patience is at an end, and does so once a second with this.
PACE = 2.0
# Often enough that no cluster is ever silent for the 30 s after which it takes no work; what changes is reported at
# once and not gathered.
_AGENT = AgentSettings(heartbeat=20.0, coalesce=0.0, discover=86_400.0)


class _Ids:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{self._prefix}-{self._count}"


Planned = Callable[[str, int], tuple[Slot, ...]]


class VirtualFleet:
    """To be made and run on a VirtualLoop. `member` makes a cluster, and is given who knows where the pods of an
    attempt go; `planned` has the room of the attempts that are not applied yet. `pace` is that of its services."""

    def __init__(
        self,
        clusters: Sequence[ClusterConfig],
        member: Callable[[ClusterConfig, Planned], Cluster] = TraceMember,
        pace: float = PACE,
    ) -> None:
        self.clock = VirtualClock()
        self.bus = MemoryBus(self.clock)
        self.store = MemoryStore(clock=self.clock)
        self.planned: dict[tuple[str, int], tuple[Slot, ...]] = {}
        self.members = Members({one.name: member(one, self._where) for one in clusters})
        self._pace = pace
        self._ids = _Ids("o")
        self._tasks: list[asyncio.Task[None]] = []

    def _where(self, job: str, attempt: int) -> tuple[Slot, ...]:
        return self.planned.pop((job, attempt))

    def hear(self, message: wire.JobMessage) -> None:
        """Every message of the record: members place pods as Fairway planned."""
        if isinstance(message, wire.Reserved):
            self.planned[message.job, message.attempt] = message.slots

    def _world(self) -> World:
        return World(self.bus, self.store.beside(), self.clock, self._ids.new(), self._pace)

    async def start(self, group: asyncio.TaskGroup) -> None:
        """In this group, which ends with whatever of them fails."""
        catalog = Catalog()
        self._tasks.append(group.create_task(catalog.run(self.bus, self.clock)))
        await catalog.known.wait()
        meter = Meter()
        made = Composition(self._world, self.bus, self.clock, catalog, meter, self.members, KEY)
        loops = [Loop(service, self._world(), meter).run() for service in made.services(STAGES)]
        agents = [
            Agent(member, self.bus, self.clock, _Ids(member.name), _AGENT).run() for member in self.members.values()
        ]
        self._tasks += [group.create_task(work) for work in (*loops, *agents)]

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
