"""What the processes of a fleet share: the bus, the store, the members, and the hub where there is one."""

import asyncio
from collections.abc import Callable
from random import Random

from fairway.adapters.memory.bus import MemoryBus
from fairway.agent.observe import node_of
from fairway.domain.resources import Resources, add
from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.idle.member import IdleMember
from fairway.lab.simulation.invariants.store_rows import CheckedStore, StoreChecks
from fairway.lab.simulation.lives import ProcessLives
from fairway.lab.simulation.members.controllers import MemberEvents
from fairway.lab.simulation.members.member import SimulatedMember
from fairway.lab.simulation.members.pods import EVERY, KINDS, NODE
from fairway.lab.simulation.members.spark import SPARK
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people.faults import FaultInjector
from fairway.lab.simulation.ports.store import StoreReach
from fairway.lab.simulation.virtual_time import VirtualClock
from fairway.runtime.ports import Outgoing
from fairway.runtime.views.members import Facts


class SimulatedFleet:
    """`members` by name with their nodes' GPUs; `joined` are those that are in the fleet now. `erasing` is told of each
    message of the record that is about to be deleted."""

    def __init__(
        self, faults: FaultInjector, members: dict[str, dict[str, int]], heard: MemberEvents, plan: RunPlan
    ) -> None:
        self.faults = faults
        self.clock = VirtualClock()
        self.bus = MemoryBus(self.clock)
        self.store = CheckedStore(StoreChecks(), self.clock)
        self.reach = StoreReach()
        rng = Random(faults.rng.random())
        made = IdleMember if plan.idle else SimulatedMember
        self.members = {name: made(name, self.clock, nodes, rng, heard) for name, nodes in members.items()}
        self.hub = SimulatedHub(self.clock) if plan.hub else None
        kinds = (EVERY if plan.hub else KINDS) + ((SPARK,) if plan.idle else ())
        for member in self.members.values():
            member.serve(kinds)
        self.joined = {name: self.counted(name) for name in members}
        self.store.books.sizes = {name: facts.capacity for name, facts in self.joined.items()}
        self.erasing: Callable[[int], None] = lambda sequence: None
        self.processes = ProcessLives(self, plan)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of jobs, that members serve."""
        return next(iter(self.members.values())).kinds

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
        """A member, new or with other facts."""
        self.joined[name] = facts
        self.processes.join(name)

    def leave(self, name: str) -> None:
        del self.joined[name]
        self.processes.leave(name)

    def any_member(self) -> SimulatedMember:
        return self.faults.rng.choice(list(self.members.values()))
