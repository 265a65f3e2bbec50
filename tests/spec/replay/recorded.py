"""The scheduler alone, over a bus and a store in memory, in a fleet whose clusters differ in all that it looks at."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain import decision
from fairway.domain.decision import Add, Put, Step
from fairway.domain.events import row_of
from fairway.domain.fold import fold
from fairway.domain.job import Job, State
from fairway.domain.resources import Resources
from fairway.global_scheduler.decide import SERVICE
from fairway.global_scheduler.service import ALONGSIDE, service
from fairway.placement.cluster import taken
from fairway.replay.record import Said
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Bus, Commit, Delivery, Outgoing, World
from fairway.runtime.views.jobs import requests_of
from fairway.runtime.views.recorder import Recorder
from fairway.runtime.views.recording_limits import RecordingLimits
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.capacity import ClusterInfo, Node, Taint
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import Expression, PodSet, Toleration, Workload
from tests.spec.builders.lives import GPU, SLOTS, T0, Life, S, spec, submitted
from tests.support.memory.clock import ManualClock, settle

KIND = "PyTorchJob.kubeflow.org/v1"
NAMES = ("east", "north", "south", "west")
_job = msgspec.json.Decoder(Job).decode
_message = msgspec.json.Decoder(wire.Message).decode
_node = msgspec.json.Decoder(Node).decode


def said_in(one: Delivery) -> Said:
    event = _message(one.data)
    return Said(one.id, one.sequence, event, event)


class House:
    """`views` is the bus that the recorder has: the scheduler's own, unless a test says otherwise; `store` likewise.
    `more` is for the scheduler (`alongside`) and the limits of recording."""

    def __init__(self, seed: int, views: Bus | None = None, store: MemoryStore | None = None, **more: Any) -> None:
        self.rng = random.Random(seed)
        self.clock = ManualClock(T0 + 60 * S)
        self.bus = MemoryBus(self.clock)
        self.store = store or MemoryStore()
        self.views = views or self.bus
        self._more = {"alongside": ALONGSIDE, **more}
        self._mine = self.store.beside()
        self._count = self._started = 0
        self.loops: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._started += 1
        name = f"s{self._started}"
        world = World(bus=self.bus, store=self.store.beside(), clock=self.clock, owner=name)
        limits = {**self._more}
        scheduler = service(alongside=limits.pop("alongside"))
        recording = Recorder((SERVICE, name), self.views, Catalog(), RecordingLimits(**limits))
        made = msgspec.structs.replace(scheduler, recording=recording)
        self.loops.append(asyncio.create_task(Loop(made, world, Meter()).run()))
        await settle(50)
        await self._mine.open()

    async def write(self, *writes: Put | Add) -> None:
        assert all(await self._mine.commit(Commit((Step(writes),))))

    async def later(self, seconds: float) -> None:
        await self.clock.advance(seconds)
        await settle(50)

    async def cluster(self, name: str) -> None:
        """Another report of it: rarely silent, cordoned, tainted, or serving other kinds."""
        rng = self.rng
        now = self.clock.now()
        seen = rng.choice((*[now] * 8, now - 40 * S, 0))
        info = ClusterInfo(
            name,
            {"gpu": "ab"[name > "n"]},
            (Taint("spot", "NoSchedule"),) if rng.random() < 0.1 else (),
            ("Job.batch/v1",) if rng.random() < 0.05 else (KIND,),
            observed_at=seen,
            epoch="e",
            sequence=now - T0,
            cordoned=rng.random() < 0.05,
        )
        await self.write(Put(decision.CLUSTERS, name, info, rev=now))
        for index in range(1, 5):
            await self._report(name, f"{name}-{index}")

    async def _report(self, cluster: str, name: str) -> None:
        rng = self.rng
        table = decision.nodes(cluster)
        row = self.store.rows.get(table, {}).get(name)
        if row is not None and rng.random() < 0.1:
            await self.write(Put(table, name, None))
            return
        node = Node(
            name,
            {GPU: rng.choice((0, 8, 8, 16)), "cpu": 64_000, "pods": 110},
            {"zone": rng.choice("xy")},
            (Taint("slow", "NoSchedule"),) if rng.random() < 0.1 else (),
            rng.random() < 0.9,
            {GPU: rng.choice((0, 0, 2)), "cpu": 1_000},
            holds=_node(row.data).holds if row else {},
        )
        await self.write(Put(table, name, node, rev=(row.rev if row else 0) + 1))

    async def dequeue(self) -> str:
        """A job whose turn it is."""
        rng = self.rng
        self._count += 1
        name = f"job-{self._count}"
        life = submitted(name).then(wire.Admitted, attempt=1, spec=self._spec(name))
        queued = {"queue": "gold", "leaf": ("root", "root/a"), "enqueued_at": life.at}
        going = {"path": ("root", "root/a"), "charge": {GPU: 8}, "woken_by": "enqueue"}
        life.then(wire.Queue, **queued)
        if rng.random() < 0.2:
            self._failed(life.then(wire.Dequeued, **going)).then(wire.Queue, attempt=2, **queued)
        if rng.random() < 0.05:
            life.then(wire.Recall, cluster="", why=Reason(Code.CANCELLED, "cancelled"))
        life.then(wire.Dequeued, **going)
        job = row_of(life.now)
        await self.write(Put(decision.JOBS, name, job, rev=job.rev))
        for _, message in life.said:
            await self.say(message)
        return name

    def _failed(self, life: Life) -> Life:
        """In a cluster that is avoided for some more seconds, or for no longer."""
        cluster = self.rng.choice(NAMES)
        life.at = self.clock.now() - 600 * S + self.rng.choice((-1, 9)) * S
        life.then(wire.Placed, cluster=cluster, slots=SLOTS)
        life.then(wire.Reserved, cluster=cluster, slots=SLOTS, expires_at=life.at)
        life.then(wire.Dispatched, cluster=cluster, uid="u").then(wire.Running, cluster=cluster)
        life.at = self.clock.now() - 600 * S + self.rng.choice((-1, 9)) * S
        return life.then(wire.Failed, cluster=cluster, why=Reason(Code.JOB_FAILED, "exit code 1"), after=0)

    async def say(self, message: wire.JobMessage) -> None:
        message = msgspec.structs.replace(message, epoch=self._mine.born if message.rev else 0)
        subject = subjects.job(message.verb, message.tenant)
        name = f"m-{message.job}-{message.rev}"
        await self.bus.publish([Outgoing(name, subject, msgspec.json.encode(message))])

    def _spec(self, name: str) -> wire.JobSpec:
        rng = self.rng
        many = {GPU: rng.choice((1, 2, 4, 8)), "cpu": 4_000}
        sets = [PodSet("Worker", rng.choice((1, 2, 4, 9)), many)]
        if rng.random() < 0.4:
            sets.insert(0, PodSet("Master", 1, {"cpu": 16_000}))
        if rng.random() < 0.3:
            sets[0] = msgspec.structs.replace(sets[0], node_selector={"zone": "x"})
        pods = sum(one.count for one in sets)
        work = Workload(
            "kubeflow.org/v1", "PyTorchJob", "team-a", name, tuple(sets), rng.choice((pods, max(1, pods // 2)))
        )
        near = Affinity("near", labels=(Expression("gpu", "In", ("a",)),))
        affinities = rng.choice(((), (near, Affinity("far")), (Affinity("two", ("east", "west")),)))
        tolerated = (Toleration("spot", "Exists"),) if rng.random() < 0.3 else ()
        placed = Placement(affinities, tolerated)
        return msgspec.structs.replace(spec(name, placement=placed), workload=work)

    def jobs(self) -> list[Job]:
        return [_job(row.data) for row in self.store.rows.get(decision.JOBS, {}).values()]

    async def happens(self, job: Job, event: type[wire.JobMessage], *more: Put | Add, **fields: Any) -> None:
        """Somebody else says this of a job."""
        head = {"job": job.id, "tenant": job.tenant, "attempt": job.attempt, "rev": job.rev + 1}
        message = event(**{**head, "at": self.clock.now(), **fields})
        after = row_of(fold(job, message))
        await self.write(Put(decision.JOBS, job.id, after, rev=after.rev), *more)
        await self.say(message)

    def job(self, name: str) -> Job:
        return _job(self.store.rows[decision.JOBS][name].data)

    async def take_up(self, job: Job) -> None:
        """What a reserver does with a placement: it holds the room, or (rarely) sends the job back."""
        if self.rng.random() < 0.1:
            back = {"queue": "gold", "leaf": job.leaf, "enqueued_at": job.enqueued_at}
            await self.happens(job, wire.Queue, Add(decision.FREED, job.cluster, 1), **back)
            return
        writes = [
            put
            for name, amounts in taken(job.slots, requests_of(job)).items()
            for put in self._held(job, name, amounts)
        ]
        await self.happens(job, wire.Reserved, *writes, cluster=job.cluster, slots=job.slots, expires_at=0)

    def _held(self, job: Job, name: str, amounts: Resources) -> list[Put]:
        table = decision.nodes(job.cluster)
        row = self.store.rows[table].get(name)
        if row is None:
            return []
        node = _node(row.data)
        holding = msgspec.structs.replace(node, holds={**node.holds, job.key: amounts})
        return [Put(table, name, holding, rev=row.rev + 1)]

    async def round(self) -> None:
        """Some time in which something happens."""
        for name in self.rng.sample(NAMES, self.rng.choice((0, 1, 2))):
            await self.cluster(name)
        for _ in range(self.rng.choice((1, 2, 5))):
            await self.dequeue()
        await self.later(self.rng.choice((0, 0.05, 0.3, 4)))
        for job in self.jobs():
            if job.state is State.PLACED and self.rng.random() < 0.7:
                await self.take_up(job)


@asynccontextmanager
async def open_house(seed: int, rounds: int = 0, **more: Any) -> AsyncIterator[House]:
    """After so many rounds, with everything recorded."""
    house = House(seed, **more)
    try:
        await house.start()
        for name in NAMES:
            await house.cluster(name)
        for _ in range(rounds):
            await house.round()
        await house.later(1)
        yield house
    finally:
        for loop in house.loops:
            loop.cancel()
        await asyncio.gather(*house.loops, return_exceptions=True)
