"""Fleets under trouble whose users hold jobs, let them go and give them other manifests: nothing breaks, all ends."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest

from fairway.domain.decision import Say
from fairway.domain.events import message_id
from fairway.domain.job import Job, State
from fairway.domain.submission import holding
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.invariants.at_the_end import rows
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people.administrators import Administrators
from fairway.lab.simulation.people.users import People
from fairway.lab.simulation.run import simulate
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from tests.simulation.test_seeds import told

ADA = Actor("ada", "hub")
_EVERY_S = 2.0


class Owners:
    """Their chance is their own, so that the rest of the run is what it is without them."""

    def __init__(self, fleet: SimulatedFleet, seed: int) -> None:
        self.done = Counter[str]()
        self._fleet = fleet
        self._rng = Random(f"owners {seed}")

    async def change(self) -> None:
        """Until it is cancelled; then nobody holds anything any more."""
        try:
            while True:
                await asyncio.sleep(self._rng.expovariate(1 / _EVERY_S))
                known = [job for _, job in sorted(rows(self._fleet).items()) if not job.ended]
                if known:
                    await self._one(self._rng.choice(known))
        except asyncio.CancelledError:
            await self._let_go()
            raise

    async def _one(self, job: Job) -> None:
        if job.spec is not None and self._rng.random() < 0.4:
            self.done[f"revised {job.state}"] += 1
            await self._say(self._revised(job))
            return
        self.done[f"{'let go' if job.held else 'held'} {job.state}"] += 1
        await self._say(holding(job, not job.held, ADA, self._fleet.clock.now()))

    def _revised(self, job: Job) -> Say:
        """What admission makes of a manifest that asks for a pod less, or is of another queue."""
        assert job.spec is not None
        (pods, *others) = job.spec.workload.pod_sets
        count = max(1, pods.count - self._rng.choice((0, 1)))
        sets = (msgspec.structs.replace(pods, count=count), *others)
        work = msgspec.structs.replace(job.spec.workload, pod_sets=sets, gang_minimum=sum(one.count for one in sets))
        digest = f"{self._rng.getrandbits(256):064x}"
        reference = msgspec.structs.replace(job.spec.manifest, sha256=digest)
        queue = self._rng.choice((job.spec.queue, "strict", ""))
        spec = msgspec.structs.replace(job.spec, workload=work, manifest=reference, queue=queue)
        message = wire.Revised(job=job.id, tenant=job.tenant, at=self._fleet.clock.now(), spec=spec)
        return Say(message_id("revised", job.id, digest), subjects.job(message.verb, job.tenant), message)

    async def _let_go(self) -> None:
        for _ in range(200):
            held = [job for job in rows(self._fleet).values() if job.held and not job.ended]
            for job in held:
                await self._say(holding(job, False, ADA, self._fleet.clock.now()))
            await asyncio.sleep(5)

    async def _say(self, say: Say) -> None:
        data = msgspec.json.encode(say.message)
        await self._fleet.publish(Outgoing(say.id, say.subject, data))


@pytest.fixture
def owners(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Owners]]:
    """Who changes the jobs of each run, beside everything else that happens there."""
    every: list[Owners] = []
    live = People.live

    async def with_owners(people: Any, above: Administrators) -> None:
        one = Owners(people._fleet, len(every))
        every.append(one)
        task = asyncio.ensure_future(one.change())
        await live(people, above)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    monkeypatch.setattr(People, "live", with_owners)
    yield every


@pytest.mark.parametrize("profile", ["calm", "rough", "hostile"])
def test_what_owners_change_breaks_nothing(profile: str, owners: list[Owners]) -> None:
    for seed in range(6):
        outcome = simulate(RunPlan(seed, hours=0.1, profile=profile, jobs=16))
        assert not outcome.violations, told(outcome)
    done = sum((one.done for one in owners), Counter[str]())
    for state in (State.QUEUED, State.DISPATCHED, State.RUNNING):
        assert done[f"held {state}"] and done[f"revised {state}"], done
