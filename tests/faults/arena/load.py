"""The steady load of the fault tests: jobs of the Philly trace's sizes, evenly spread, and each over within seconds."""

import asyncio
import os
import random
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock
from fairway.domain.names import job_id
from fairway.lab.traces.trace import GPU, WORKER_GPUS, TraceJob, manifest, philly, policy, quota_tree
from fairway.runtime.ports import Outgoing, Unreachable
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor

# GPUs of a job, and how many in a thousand of the Philly trace ask for so many.
_MIX = {1: 934, 2: 21, 4: 23, 8: 20, 16: 2}
TENANTS = tuple(f"vc-{number}" for number in range(4))
# GPUs that a tenant may have at once: now and then one has to wait for its share. More than the largest job asks for:
# others may pass it by, and it would wait for a moment in which its tenant has nothing else.
_MOST = 20
_ROWS = 2_000
# The load plays a door.
_DOOR = Actor("load", "test")
# Half of the jobs are over within a second, so that some are cancelled on their way, some where they run, and some when
# they are over.
_REGRET_S = 2.0
_encode = msgspec.json.Encoder().encode
Json = dict[str, Any]


class Demand(Struct, frozen=True):
    """What is asked of a fleet: the `settings` of one with so many GPUs (the last of them is its quota tree), the jobs
    that come, without end, and how each is written."""

    settings: Callable[[int], tuple[list[Json], Json]]
    rows: Callable[[], Iterator[TraceJob]]
    written: Callable[[TraceJob], Json]


def settings(gpus: int) -> tuple[list[Json], Json]:
    """A policy for each tenant, and the quota tree."""
    tree = quota_tree(TENANTS, gpus, {})
    for leaf in tree["spec"]["root"]["children"]:
        leaf["max"] = {GPU: _MOST}
    return [policy(tenant) for tenant in TENANTS], tree


def rows() -> Iterator[TraceJob]:
    """Without end. FAIRWAY_PHILLY may name a Philly job list, whose rows are taken then; an hour of a job there is a
    second here, and none is longer than four."""
    file = os.environ.get("FAIRWAY_PHILLY", "")
    found = list(philly(Path(file), _ROWS).jobs) if file else _drawn()
    for number, row in enumerate(cycle(found)):
        yield msgspec.structs.replace(
            row, name=f"job-{number}", tenant=TENANTS[number % len(TENANTS)], seconds=min(4.0, 0.2 + row.seconds / 3600)
        )


def _drawn() -> list[TraceJob]:
    chance = random.Random(1)
    drawn = []
    for number in range(_ROWS):
        gpus = chance.choices(list(_MIX), list(_MIX.values()))[0]
        pods = -(-gpus // WORKER_GPUS)
        requests = {"cpu": "1", GPU: str(gpus // pods)}
        seconds = chance.lognormvariate(7.5, 1.5)  # half of them within half an hour, as in the trace
        drawn.append(TraceJob(f"job-{number}", "", 0.0, seconds, pods, requests))
    return drawn


def written(row: TraceJob) -> Json:
    return manifest(row, round(row.seconds * 1000))


STEADY = Demand(settings, rows, written)


def regrets(share: float) -> Iterator[float | None]:
    """For each job in turn after how many seconds it is cancelled, if it is one of that share."""
    chance = random.Random(2)
    while True:
        seconds = chance.uniform(0, _REGRET_S)
        yield seconds if chance.random() < share else None


async def told_to_stop(over: asyncio.Event, seconds: float) -> bool:
    """Whether that happens within the time between two submissions."""
    try:
        async with asyncio.timeout(seconds):
            await over.wait()
    except TimeoutError:
        return False
    return True


class Load:
    """Submits `a_second` jobs until it is told to stop, while they are `wanted`, and cancels a `share` of them; `sent`
    are the ids of those that NATS has, `refused` counts tries that it did not answer well."""

    def __init__(self, bus: NatsBus, a_second: float, share: float, demand: Demand = STEADY) -> None:
        self._bus = bus
        self._every_s = 1 / a_second
        self._clock = SystemClock()
        self._regrets = regrets(share)
        self._over = asyncio.Event()
        self._demand = demand
        self.wanted: Callable[[], bool] = lambda: True
        self.sent: list[str] = []
        self.refused = 0

    def stop(self) -> None:
        self._over.set()

    async def run(self) -> None:
        """Returns when it was told to stop, and all that is to be cancelled is."""
        async with asyncio.TaskGroup() as group:
            for row, regret in zip(self._demand.rows(), self._regrets, strict=False):
                job = await self.submit(row)
                if regret is not None:
                    group.create_task(self.cancel(job, row.tenant, regret))
                if await self._told_to_stop():
                    return

    async def _told_to_stop(self) -> bool:
        while not (stop := await told_to_stop(self._over, self._every_s)) and not self.wanted():
            pass
        return stop

    async def submit(self, row: TraceJob) -> str:
        """The job, when NATS has it."""
        raw = msgspec.Raw(_encode(self._demand.written(row)))
        message = wire.Submitted(
            tenant=row.tenant, at=self._clock.now(), manifest=raw, client=row.name, source=_DOOR.via, who=_DOOR
        )
        name = f"load.{row.name}"
        await self._insist(name, message)
        self.sent.append(name)
        return job_id(row.tenant, row.name, row.name)

    async def cancel(self, job: str, tenant: str, after_s: float = 0.0) -> None:
        await asyncio.sleep(after_s)
        await self._insist(f"cancel.{job}", wire.Cancel(job=job, tenant=tenant, at=self._clock.now(), who=_DOOR))

    async def _insist(self, name: str, message: wire.Submitted | wire.Cancel) -> None:
        """However long the bus is away: the id makes a repeated publish one."""
        subject = subjects.job(message.verb, message.tenant)
        said = Outgoing(name, subject, _encode(message), f"fairway.job.{message.verb}", "/test")
        while True:
            try:
                await self._bus.publish([said])
                return
            except Unreachable:
                self.refused += 1
                await asyncio.sleep(0.2)
