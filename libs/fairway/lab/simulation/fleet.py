"""Processes, and what they share: the bus, the store, the members. Who dies comes back under the same name."""

import asyncio
from random import Random

import msgspec

from fairway.adapters.memory.bus import MemoryBus
from fairway.agent.observe import node_of
from fairway.agent.service import Agent
from fairway.agent.settings import AgentSettings
from fairway.domain.resources import Resources, add
from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.hub.port import HubPort, HubWriter
from fairway.lab.simulation.invariants.store_rows import CheckedStore, StoreChecks
from fairway.lab.simulation.members.controllers import MemberEvents
from fairway.lab.simulation.members.member import SimulatedMember
from fairway.lab.simulation.members.pods import NODE
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people.faults import FaultInjector
from fairway.lab.simulation.ports.bus import BusPort
from fairway.lab.simulation.ports.member import MemberPort
from fairway.lab.simulation.ports.store import StorePort, StoreReach
from fairway.lab.simulation.process import ProcessClock, ProcessIds, SimulatedProcess
from fairway.lab.simulation.virtual_time import T0
from fairway.process.composition import Composition
from fairway.replay.stages import STAGES
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing, World
from fairway.runtime.views.members import Facts, Members
from fairway.runtime.views.recorder import Recorder
from fairway.runtime.views.settings import Catalog

# Which services each process runs: two of everything, so that somebody else is always at it.
PROCESSES = {
    f"{name}-{side}": names
    for side in ("a", "b")
    for name, names in {
        "door": ("inbound", "admission", "quota"),
        "queue": ("queue",),
        "place": ("global-scheduler", "reserver"),
        "hands": ("propagator", "watcher"),
    }.items()
}
# And where there is a hub.
HUB_PROCESSES = {"hub-a": ("hub",), "hub-b": ("hub",)}
# With which this fleet seals what it applies.
KEY = b"the key of a simulated fleet"
_AGENT = AgentSettings(heartbeat=15.0, discover=30.0, stranded=60.0)


class Instant:
    """The time that nobody is wrong about."""

    def now(self) -> int:
        return T0 + round(asyncio.get_running_loop().time() * 1000)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class SimulatedFleet:
    """`members` by name with their nodes' GPUs. `writer` is who writes to the `hub`, where there is one."""

    def __init__(
        self, faults: FaultInjector, members: dict[str, dict[str, int]], heard: MemberEvents, plan: RunPlan
    ) -> None:
        self.faults = faults
        self.clock = Instant()
        self.meter = Meter()
        self._plan = plan
        self.books = StoreChecks()
        self.bus = MemoryBus(self.clock)
        self.store = CheckedStore(self.books, self.clock)
        self.reach = StoreReach()
        rng = Random(faults.rng.random())
        self.members = {name: SimulatedMember(name, self.clock, nodes, rng, heard) for name, nodes in members.items()}
        self.hub = SimulatedHub(self.clock) if plan.hub else None
        self.writer = HubWriter()
        self._work = PROCESSES | (HUB_PROCESSES if plan.hub else {})
        self.processes: dict[str, SimulatedProcess] = {}
        self._lives: dict[str, int] = {}
        self.joined = {name: self.counted(name) for name in members}
        self.books.sizes = {name: facts.capacity for name, facts in self.joined.items()}
        self._known: dict[str, Members] = {}
        self.deaths = 0

    def begin(self) -> None:
        for name in (*self._work, *(f"agent-{name}" for name in self.members)):
            self._start(name)

    async def publish(self, said: Outgoing) -> None:
        """As a client does that tries until it is told that its word is stored."""
        while not self.bus.connected:
            await asyncio.sleep(1)
        await self.bus.publish([said])

    def counted(self, name: str) -> Facts:
        """Of a member that joins: what an administrator finds there."""
        total: Resources = {}
        for one in self.members[name].every(NODE):
            total = add(total, node_of(one.obj)[0].allocatable)
        return Facts(capacity=total)

    def join(self, name: str, facts: Facts) -> None:
        """A member, new or with other facts: every process is told, and its agent begins anew."""
        self.joined[name] = facts
        for process in self._known:
            self._make_known(self.processes[process], name)
        if self.processes[f"agent-{name}"].dead:
            self._start(f"agent-{name}")
        else:
            self.processes[f"agent-{name}"].kill()

    def _make_known(self, process: SimulatedProcess, name: str) -> None:
        known = self._known[process.name]
        port = known.get(name) or MemberPort(process, self.members[name], self.faults)
        known.put(port, self.joined[name])

    def leave(self, name: str) -> None:
        del self.joined[name]
        for known in self._known.values():
            known.drop(name)
        self.processes[f"agent-{name}"].kill()

    def any_member(self) -> SimulatedMember:
        return self.faults.rng.choice(list(self.members.values()))

    def _start(self, name: str) -> None:
        life = self._lives[name] = self._lives.get(name, 0) + 1
        most = self.faults.profile.skew_ms if name.startswith("agent-") and not self.faults.clears else 0
        skew = self.faults.rng.randint(-most, most) if most else 0
        process = self.processes[name] = SimulatedProcess(name, self.faults, self._died, skew)
        if name.startswith("agent-"):
            self._agent(process, self.members[name.partition("-")[2]], ProcessIds(process, life))
        else:
            self._services(process, self._work[name], life)

    def _died(self, process: SimulatedProcess) -> None:
        self.deaths += 1
        asyncio.get_running_loop().call_later(self.faults.rng.uniform(0.2, 15.0), self._again, process.name)

    def _again(self, name: str) -> None:
        """Whose member has left does not come back, and whose member has joined meanwhile is back already."""
        if self.processes[name].dead and (not name.startswith("agent-") or name.partition("-")[2] in self.joined):
            self._start(name)

    def _agent(self, process: SimulatedProcess, member: SimulatedMember, ids: ProcessIds) -> None:
        bus = BusPort(process, self.bus, self.faults)
        port = MemberPort(process, member, self.faults)
        settings = msgspec.structs.replace(_AGENT, facts=self.joined[member.name])
        process.start(Agent(port, bus, ProcessClock(process), ids, settings).run())

    def _services(self, process: SimulatedProcess, names: tuple[str, ...], life: int) -> None:
        clock = ProcessClock(process)
        bus = BusPort(process, self.bus, self.faults)
        catalog = Catalog()
        members = self._known[process.name] = Members()
        for name in self.joined:
            self._make_known(process, name)
        owner = ProcessIds(process, life)

        def world() -> World:
            store = StorePort(process, self.store.beside(), self.reach)
            return World(bus=bus, store=store, clock=clock, owner=owner.new(), pace=self._plan.pace)

        def recording(service: str) -> Recorder | None:
            """Not over the process' own port: what goes wrong there would be drawn from the seed."""
            recorded = self._plan.replay and service in STAGES
            return Recorder((service, f"{process.name}-{life}"), self.bus, catalog) if recorded else None

        hub = HubPort(process, self.hub, self.faults, self.writer) if self.hub and "hub" in names else None
        given = Composition(world, bus, clock, catalog, self.meter, members, KEY, hub=hub, recording=recording)

        async def runs() -> None:
            following = asyncio.create_task(catalog.run(bus, clock))
            await catalog.known.wait()
            loops = [Loop(one, world(), self.meter) for one in given.services(names)]
            await asyncio.gather(following, *(loop.run() for loop in loops))

        process.start(runs())
