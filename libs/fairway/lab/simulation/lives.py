"""Which processes run, and what each is made of. Who dies comes back under the same name."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from fairway.adapters.memory.user_bus import UserBus
from fairway.agent.service import Agent
from fairway.agent.settings import AgentSettings
from fairway.global_scheduler.service import ALONGSIDE
from fairway.keeper.service import Keeper
from fairway.lab.simulation.hub.port import HubPort
from fairway.lab.simulation.members.member import SimulatedMember
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.ports.bus import BusPort, KeeperBusPort
from fairway.lab.simulation.ports.member import MemberPort
from fairway.lab.simulation.ports.store import StorePort
from fairway.lab.simulation.process import ProcessClock, ProcessIds, SimulatedProcess
from fairway.process.composition import Composition
from fairway.queue.view import Patience
from fairway.replay.stages import STAGES
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import World
from fairway.runtime.service import AnyService
from fairway.runtime.views.members import Members
from fairway.runtime.views.recorder import Recorder
from fairway.runtime.views.settings import Catalog
from fairway.wire.subjects import AGENT, KEEPER, RELIEF

if TYPE_CHECKING:
    from fairway.lab.simulation.fleet import SimulatedFleet

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
# Two keepers, too, and for how long after the end of its job a manifest is kept in their runs.
KEPT_MS = 300_000
KEEPERS = {"keeper-a": (KEEPER,), "keeper-b": (KEEPER,)}
# With which this fleet seals what it applies.
KEY = b"the key of a simulated fleet"
# In runs whose seeds end so, what placements find is stored apart, as in a large fleet.
_APART = (3, 7)
_AGENT = AgentSettings(heartbeat=15.0, discover=30.0, stranded=60.0)


class ProcessLives:
    """Of the processes of a fleet: those that are `there` by name, and how many `deaths` there were."""

    def __init__(self, fleet: "SimulatedFleet", plan: RunPlan) -> None:
        self.there: dict[str, SimulatedProcess] = {}
        self.deaths = 0
        self._fleet = fleet
        self._faults = fleet.faults
        self._plan = plan
        self._alongside = 0 if plan.seed % 10 in _APART else ALONGSIDE
        self._meter = Meter()
        self._work = PROCESSES | (HUB_PROCESSES if plan.hub else {}) | (KEEPERS if plan.keeper else {})
        self._lives: dict[str, int] = {}
        self._known: dict[str, Members] = {}

    def begin(self) -> None:
        for name in (*self._work, *(f"agent-{name}" for name in self._fleet.members)):
            self._start(name)

    def join(self, member: str) -> None:
        """Every process is told of it, and its agent begins anew."""
        for process in self._known:
            self._make_known(self.there[process], member)
        if self.there[f"agent-{member}"].dead:
            self._start(f"agent-{member}")
        else:
            self.there[f"agent-{member}"].kill()

    def leave(self, member: str) -> None:
        for known in self._known.values():
            known.drop(member)
        self.there[f"agent-{member}"].kill()

    def _make_known(self, process: SimulatedProcess, name: str) -> None:
        known = self._known[process.name]
        port = known.get(name) or MemberPort(process, self._fleet.members[name], self._faults)
        known.put(port, self._fleet.joined[name])

    def _start(self, name: str) -> None:
        life = self._lives[name] = self._lives.get(name, 0) + 1
        most = self._faults.profile.skew_ms if name.startswith("agent-") and not self._faults.clears else 0
        skew = self._faults.rng.randint(-most, most) if most else 0
        process = self.there[name] = SimulatedProcess(name, self._faults, self._died, skew)
        if name.startswith("agent-"):
            self._agent(process, self._fleet.members[name.partition("-")[2]], ProcessIds(process, life))
        elif name in KEEPERS:
            self._keeper(process)
        else:
            self._services(process, self._work[name], life)

    def _died(self, process: SimulatedProcess) -> None:
        self.deaths += 1
        asyncio.get_running_loop().call_later(self._faults.rng.uniform(0.2, 15.0), self._again, process.name)

    def _again(self, name: str) -> None:
        """Whose member has left does not come back, and whose member has joined meanwhile is back already."""
        if self.there[name].dead and (not name.startswith("agent-") or name.partition("-")[2] in self._fleet.joined):
            self._start(name)

    def _agent(self, process: SimulatedProcess, member: SimulatedMember, ids: ProcessIds) -> None:
        bus = UserBus(BusPort(process, self._fleet.bus, self._faults), AGENT)
        port = MemberPort(process, member, self._faults)
        settings = msgspec.structs.replace(_AGENT, facts=self._fleet.joined[member.name])
        process.start(Agent(port, bus, ProcessClock(process), ids, settings).run())

    def _keeper(self, process: SimulatedProcess) -> None:
        fleet = self._fleet
        port = KeeperBusPort(process, fleet.bus, self._faults, fleet.erasing)
        process.start(Keeper(UserBus(port, KEEPER), ProcessClock(process), KEPT_MS, letters_ms=0).run())

    def _of_plan(self, service: AnyService) -> AnyService:
        """Claims are made where evictions are looked at, and nowhere else: all other seeds stay the runs that they are,
        and find what they have found."""
        if self._plan.evictions:
            return service
        ticks = tuple([one for one in service.ticks if not isinstance(one[0], Patience)])
        consumers = tuple([one for one in service.consumers if one.stream != RELIEF])
        return msgspec.structs.replace(service, ticks=ticks, consumers=consumers)

    def _services(self, process: SimulatedProcess, names: tuple[str, ...], life: int) -> None:
        fleet = self._fleet
        clock = ProcessClock(process)
        port = BusPort(process, fleet.bus, self._faults)
        catalog = Catalog()
        members = self._known[process.name] = Members()
        for name in fleet.joined:
            self._make_known(process, name)
        owner = ProcessIds(process, life)

        def world(service: str) -> World:
            store = StorePort(process, fleet.store.beside(), fleet.reach)
            bus = UserBus(port, service)
            return World(bus=bus, store=store, clock=clock, owner=owner.new(), pace=self._plan.pace)

        def recording(service: str) -> Recorder | None:
            """Not over the process' own port: what goes wrong there would be drawn from the seed."""
            recorded = self._plan.replay and service in STAGES
            return Recorder((service, f"{process.name}-{life}"), fleet.bus, catalog) if recorded else None

        reads = {"hub", "propagator"} if self._plan.companions else {"hub"}
        hub = HubPort(process, fleet.hub, self._faults) if fleet.hub and reads & {*names} else None

        def loops(name: str) -> list[Loop]:
            """Each service with the rights of its own credential, whatever shares its process."""
            ports = (partial(world, name), UserBus(port, name), clock)
            given = Composition(
                *ports, catalog, self._meter, members, KEY, hub=hub, recording=recording, alongside=self._alongside
            )
            return [Loop(self._of_plan(one), world(name), self._meter) for one in given.services([name])]

        async def runs() -> None:
            following = asyncio.create_task(catalog.run(UserBus(port, *names), clock))
            await catalog.known.wait()
            made = [loop for name in names for loop in loops(name)]
            await asyncio.gather(following, *(loop.run() for loop in made))

        process.start(runs())
