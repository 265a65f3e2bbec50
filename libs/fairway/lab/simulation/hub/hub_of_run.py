"""The hub of one run: those who use it, its controllers, and what must be so there."""

import asyncio
from collections import Counter

from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.hub.schedule_controller import ScheduleController
from fairway.lab.simulation.invariants.at_the_end import Found
from fairway.lab.simulation.invariants.companions import companions_left
from fairway.lab.simulation.invariants.events import EventChecks
from fairway.lab.simulation.invariants.hub_schedules import ScheduleChecks
from fairway.lab.simulation.invariants.hub_writes import HubChecks
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people.faults import FaultInjector
from fairway.lab.simulation.people.hub_schedules import HubSchedules
from fairway.lab.simulation.people.hub_users import HubUsers
from fairway.runtime.ports import Delivery


class HubOfRun:
    """Every second seed has a controller of CronJobs there."""

    def __init__(self, fleet: SimulatedFleet, hub: SimulatedHub, witness: EventChecks, plan: RunPlan) -> None:
        faults: FaultInjector = fleet.faults
        self._fleet = fleet
        self._checks = HubChecks(fleet, hub, witness.breach, witness.tree_changed)
        self._runs = ScheduleChecks(fleet, hub, witness.breach)
        self._users = HubUsers(fleet, hub, faults.profile, plan)
        self._setters = HubSchedules(hub, plan) if plan.schedules else None
        controls = plan.schedules and plan.seed % 2
        self._controller = ScheduleController(hub, faults, plan.seed) if controls else None
        self._controlling: asyncio.Future[None] | None = None

    @property
    def drawn(self) -> Counter[str]:
        return self._users.drawn + self._runs.runs

    def stored(self, stream: str, delivery: Delivery) -> None:
        self._checks.stored(stream, delivery)

    def look(self) -> None:
        self._checks.look()

    async def in_force(self) -> None:
        """Returns when its settings are."""
        await self._checks.in_force()

    async def live(self) -> None:
        """Returns when the time of trouble is over."""
        if self._controller is not None:
            self._controlling = asyncio.ensure_future(self._controller.live())
        await asyncio.gather(self._users.live(), *([self._setters.live()] if self._setters else []))

    async def run_on(self) -> None:
        """Nothing goes wrong any more: schedules run once more, and then none does."""
        if self._setters is not None:
            await self._runs.run_on()
            self._setters.settle()

    def settled(self) -> bool:
        return self._checks.settled() and not any(self._runs.end())

    def end(self) -> Found:
        if self._controlling is not None:
            self._controlling.cancel()
        yield from self._checks.end()
        yield from self._runs.end()
        yield from companions_left(self._fleet)
