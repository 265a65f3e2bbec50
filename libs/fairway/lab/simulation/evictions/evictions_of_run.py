"""The evictions of one run: owners who want back what they have lent, jobs that are held, and what must be so."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from random import Random

import msgspec

from fairway.domain.job import Job
from fairway.lab.simulation.evictions.checks import EvictionChecks
from fairway.lab.simulation.evictions.jobs import CLASSES, EvictionJobs
from fairway.lab.simulation.evictions.trees import Trees
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.invariants.at_the_end import rows
from fairway.lab.simulation.invariants.events import EventChecks
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people.administrators import Administrators
from fairway.lab.simulation.people.users import TENANTS, People
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects

_encode = msgspec.json.Encoder().encode
# How often (s) an owner wants his share at once, and how often somebody holds a job for a while.
_BURST_S = 60.0
_HOLD_S = 150.0


class EvictionsOfRun:
    def __init__(self, fleet: SimulatedFleet, witness: EventChecks, plan: RunPlan) -> None:
        self._fleet = fleet
        self._rng = Random(f"evictions {plan.seed}")
        self._seconds = plan.hours * 3600
        self._trees = Trees(plan.seed)
        self._drawn = Counter[str]()
        self._jobs = EvictionJobs(plan.seed)
        self._people: People | None = None
        self.checks = EvictionChecks(fleet, witness, plan)

    @property
    def drawn(self) -> Counter[str]:
        """With what became of claims, and how often anybody was evicted."""
        return self._drawn + self.checks.figures()

    async def settle_in(self, above: Administrators, people: People) -> None:
        """Before anybody submits."""
        self._people = people
        people.evictions = self._jobs
        above.tree_of = self._trees.drawn
        above.last_tree = self._trees.last
        for name, (value, evicts) in CLASSES.items():
            policy = {} if evicts else {"preemptionPolicy": "Never"}
            head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
            await above.say("PriorityClass", "", name, {**head, "value": value, **policy})

    async def live(self) -> None:
        """Returns when the time of trouble is over."""
        await asyncio.gather(self._bursts(), self._holds())

    async def _bursts(self) -> None:
        """What an owner lacks most is many small jobs, or one large one."""
        async for _ in self._now_and_then(_BURST_S):
            self._drawn["burst"] += 1
            assert self._people is not None, "they settled in"
            tenant = self._rng.choice(TENANTS)
            for _ in range(self._rng.choice((1, 2, 4))):
                await self._people.submit(tenant)

    async def _holds(self) -> None:
        async for _ in self._now_and_then(_HOLD_S):
            waiting = [job for job in rows(self._fleet).values() if not job.ended and not job.held]
            if waiting:
                self._drawn["hold"] += 1
                job = self._rng.choice(sorted(waiting, key=lambda one: one.id))
                await self._hold(job, True)
                await asyncio.sleep(self._rng.choice((1.0, 20.0, 120.0)))
                await self._hold(job, False)

    async def _hold(self, job: Job, held: bool) -> None:
        now = self._fleet.clock.now()
        message = wire.HoldJob(job=job.id, tenant=job.tenant, at=now, held=held)
        name = f"hold-{job.id}-{held}-{now}"
        await self._fleet.publish(Outgoing(name, subjects.job(message.verb, job.tenant), _encode(message)))

    async def _now_and_then(self, seconds: float) -> AsyncIterator[None]:
        end = asyncio.get_running_loop().time() + self._seconds
        while True:
            await asyncio.sleep(self._rng.expovariate(1 / seconds))
            if asyncio.get_running_loop().time() >= end:
                return
            yield None
