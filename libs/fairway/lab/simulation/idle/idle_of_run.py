"""The idle resources of one run: who lists them and takes them away, who asks for them, and what must be so."""

import asyncio
from collections import Counter

from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.idle.figures import BatchFigures
from fairway.lab.simulation.idle.jobs import IdleJobs
from fairway.lab.simulation.idle.member import IdleMember
from fairway.lab.simulation.invariants.batch_jobs import BatchChecks
from fairway.lab.simulation.invariants.events import EventChecks
from fairway.lab.simulation.outcome import RunPlan


class IdleOfRun:
    def __init__(self, fleet: SimulatedFleet, witness: EventChecks, plan: RunPlan) -> None:
        self._drawn = Counter[str]()
        self.jobs = IdleJobs(plan.seed)
        self.checks = BatchChecks(fleet, self.jobs, witness.breach)
        members = [one for one in fleet.members.values() if isinstance(one, IdleMember)]
        self._figures = [BatchFigures(one, plan.seed, plan.hours * 3600, self._drawn) for one in members]

    @property
    def drawn(self) -> Counter[str]:
        """With how many jobs asked for them, how often one was taken back for want of them, and then went elsewhere."""
        checks = self.checks
        jobs = Counter(batch_jobs=len(self.jobs.jobs), batch_shrunk=checks.shrunk, batch_moved=checks.moved)
        return self._drawn + jobs

    async def live(self) -> None:
        """Returns when the time of trouble is over."""
        await asyncio.gather(*(one.live() for one in self._figures))
