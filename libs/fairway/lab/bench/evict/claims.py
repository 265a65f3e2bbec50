"""From a claim to the last recall, and until a whole min is back: queue, scheduler and reserver as processes, on NATS
and Valkey."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.journeys import percentiles
from fairway.lab.bench.measuring.outcome import BenchOutcome
from fairway.lab.bench.pipeline import load
from fairway.lab.bench.pipeline.agents import ReportedNodes
from fairway.lab.bench.pipeline.fleet import Tell, groups, scene
from fairway.lab.fleet.fleet import FleetPlan
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.capacity import Node

_GPU = "nvidia.com/gpu"
_NODE_GPUS = 8
_NODE = {"cpu": 96_000, "memory": 768 << 30, _GPU: _NODE_GPUS, "pods": 110}
_CLUSTER = "cluster-0"
_HEARD = tuple(f"fairway.job.{verb}.>" for verb in ("claimed", "recall", "dispatched", "unclaimed"))
_AT_ONCE = 64
# So many jobs are of one tenant: of 4,000 four mins are given back at once.
_OF_ONE_OWNER = 1_000
# Whatever does not come for so long does not come at all.
_PATIENCE_S = 120.0


class _Word(Struct):
    type: str
    job: str


_word = msgspec.json.Decoder(_Word).decode


async def measure(victims: int, rounds: int, dir: Path, tell: Tell) -> BenchOutcome:
    """So many jobs of one GPU fill a cluster, on borrowed quota. Whose room it is wants all of it for one gang; when he
    has cancelled that, they go again."""
    tell(f"{victims} victims", rounds)
    claims = []
    async with _lent(victims, dir) as (bus, record):
        for at in range(rounds):
            claims.append(await _claim(bus, record, victims, f"gang-{at:05d}"))
            tell("", 1)
    figures = percentiles("claim_to_recall_", [one.recalled for one in claims], 50, 99)
    figures |= percentiles("claim_to_dispatched_", [one.dispatched for one in claims], 50, 99)
    return BenchOutcome(figures=figures, counts={"claims": len(claims), "in_vain": record.in_vain})


async def measure_many(jobs: int, dir: Path, tell: Tell) -> BenchOutcome:
    """The same ground, of which each of several owners has a part: they want it for as many jobs of one GPU, each of
    which claims by itself. Measured is from when they are submitted until the last one is dispatched."""
    tell(f"{jobs} claims", 1)
    owners = [f"owner-{at}" for at in range(-(-jobs // _OF_ONE_OWNER))]
    async with _lent(jobs, dir, owners) as (bus, record):
        record.forget()
        said = [_job(owners[at % len(owners)], f"own-{at:05d}", 1) for at in range(jobs)]
        own = {job for job, _ in said}
        begun = asyncio.get_running_loop().time()
        await _submit(bus, said)
        await record.until(lambda: own <= record.dispatched.keys())
        took = max(record.dispatched[job] for job in own) - begun
        tell("", 1)
        counts = {"recalled": len(record.recalled), "in_vain": record.in_vain}
    return BenchOutcome(figures={"min_back_seconds": round(took, 2)}, counts=counts)


@asynccontextmanager
async def _lent(jobs: int, dir: Path, owners: Sequence[str] = ("owner",)) -> AsyncIterator[tuple[NatsBus, "_Record"]]:
    """A cluster is full of so many jobs of one GPU, on quota that is its owners'."""
    plan = FleetPlan((), groups=groups(2), stub_clusters=True)
    async with scene(dir, _ground(jobs, owners), plan) as on:
        record = _Record()
        async with beside(record.listen(on.bus)):
            await _submit(on.bus, [_job("lender", f"lent-{at:05d}", 1) for at in range(jobs)])
            await record.until(lambda: len(record.dispatched) == jobs)
            yield on.bus, record


class _Claim(Struct, frozen=True):
    """Milliseconds from the claim until the last recall was heard, and until its job was dispatched."""

    recalled: float
    dispatched: float


async def _claim(bus: NatsBus, record: "_Record", victims: int, name: str) -> _Claim:
    job, message = _job("owner", name, victims)
    await bus.publish([message])
    await record.until(lambda: len(record.recalled) >= victims and job in record.dispatched)
    claimed = record.claimed[job]
    found = _Claim(
        (max(record.recalled.values()) - claimed) * 1_000,
        (record.dispatched[job] - claimed) * 1_000,
    )
    record.forget()
    await bus.publish([_cancel(job)])
    await record.until(lambda: len(record.dispatched) >= victims)
    record.forget()
    return found


class _Record:
    """When each was heard, in seconds of the loop's clock."""

    def __init__(self) -> None:
        self.claimed: dict[str, float] = {}
        self.recalled: dict[str, float] = {}
        self.dispatched: dict[str, float] = {}
        self.in_vain = 0
        self._news = asyncio.Event()

    async def listen(self, bus: NatsBus) -> None:
        loop = asyncio.get_running_loop()
        async for delivery in bus.history(subjects.JOBS, _HEARD, live=True):
            if not delivery.subject:
                continue
            word = _word(delivery.data)
            match word.type:
                case "claimed":
                    self.claimed[word.job] = loop.time()
                case "recall":
                    self.recalled[word.job] = loop.time()
                case "dispatched":
                    self.dispatched[word.job] = loop.time()
                case "unclaimed":
                    self.in_vain += 1
            self._news.set()

    def forget(self) -> None:
        for one in (self.claimed, self.recalled, self.dispatched):
            one.clear()

    async def until(self, there: Callable[[], bool]) -> None:
        async with asyncio.timeout(_PATIENCE_S):
            while not there():
                self._news.clear()
                await self._news.wait()


async def _submit(bus: NatsBus, jobs: list[tuple[str, Outgoing]]) -> None:
    messages = [message for _, message in jobs]
    for start in range(0, len(messages), _AT_ONCE):
        await bus.publish(messages[start : start + _AT_ONCE])


def _ground(victims: int, owners: Sequence[str]) -> ReportedNodes:
    nodes = [Node(f"node-{at:04d}", _NODE) for at in range(-(-victims // _NODE_GPUS))]
    whole = {_GPU: str(victims)}
    names = [*owners, "lender"]
    leaves: list[dict[str, Any]] = [{"name": name, "namespaces": [name], "max": load.PLENTY | whole} for name in names]
    for leaf in leaves[:-1]:
        leaf["min"] = {_GPU: str(victims // len(owners))}
    said = [load.quota_tree(leaves, {"max": load.PLENTY | whole, "min": whole})]
    said += [load.configured("PropagationPolicy", one, "all", load.policy(one, {})) for one in names]
    said.append(load.configured("Cluster", "", _CLUSTER, {"labels": {}}))
    return ReportedNodes(said, {_CLUSTER: nodes}, {_CLUSTER: {}}, load.KINDS)


def _job(tenant: str, name: str, pods: int) -> tuple[str, Outgoing]:
    """So many pods of one GPU."""
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": load.NAME, "namespace": tenant},
        "spec": {"parallelism": pods, "completions": pods, "template": load.pod_template(1)},
    }
    return load.submission(tenant, name, load.submitted(tenant, manifest))


def _cancel(job: str) -> Outgoing:
    said = msgspec.json.encode(wire.Cancel(job=job, tenant="owner", who=load.BENCH))
    return Outgoing(f"cancel-{job}", subjects.job("cancel", "owner"), said, "fairway.job")
