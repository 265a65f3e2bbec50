"""An agent in memory: nodes, and the pods of applied objects as its cluster really placed them."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from fairway.adapters.memory.bus import MemoryBus
from fairway.domain.batch_resources import in_batch
from fairway.domain.resources import Resources, parse_quantity, scale
from fairway.runtime.ports import Outgoing, Unreachable
from fairway.wire import fleet, subjects
from fairway.wire.capacity import Node, Pods
from fairway.workloads.member_copy import ATTEMPT_LABEL, BATCH_LABEL, JOB_LABEL
from tests.support.memory.clock import ManualClock
from tests.support.memory.cluster import MemoryCluster

GPU = "nvidia.com/gpu"
KIND = "Job.batch/v1"
_EPOCH = "e1"


class MemoryAgent:
    """Pods go where `planned` says for their attempt; without a plan to the last node that has room."""

    def __init__(self, cluster: MemoryCluster, bus: MemoryBus, clock: ManualClock, sizes: tuple[int, ...]) -> None:
        self.cluster = cluster
        self._bus = bus
        self._clock = clock
        self.planned: Callable[[str], dict[str, int]] = lambda key: {}
        self.silent = False
        self.homeless: list[str] = []
        self.nodes = {
            f"n{index}": Node(f"n{index}", {GPU: size, "pods": 110, "cpu": 64_000}) for index, size in enumerate(sizes)
        }
        self._pods: dict[str, dict[str, int]] = {}
        self._sequence = 0
        self._told: dict[str, Node] = {}

    async def run(self) -> None:
        await self._bus.answer(subjects.resync(self.cluster.name), self._asked)
        await self.report(full=True)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._beat())
            group.create_task(self._follow())

    async def _asked(self, data: bytes) -> None:
        await self.report(full=True)

    async def _beat(self) -> None:
        while True:
            await self._clock.sleep(5)
            await self.report(full=False)

    async def _follow(self) -> None:
        async for change in self.cluster.watch(KIND):
            if change.synced:
                continue
            labels = change.manifest["metadata"].get("labels") or {}
            key = f"{labels.get(JOB_LABEL)}/{labels.get(ATTEMPT_LABEL)}"
            ended = any(
                one["type"] in ("Complete", "Failed") for one in change.manifest.get("status", {}).get("conditions", ())
            )
            if change.gone or ended:
                self._pods.pop(key, None)
            elif key not in self._pods:
                self._pods[key] = self._placed(key, change.manifest["spec"])
            await self.report(full=False)

    def _placed(self, key: str, spec: dict[str, Any]) -> dict[str, int]:
        each = int(spec["template"]["spec"]["containers"][0]["resources"]["limits"][GPU])
        free = {name: self._free(node) for name, node in self.nodes.items()}
        placed: dict[str, int] = {}
        wanted = [node for node, count in self.planned(key).items() for _ in range(count)]
        for _ in range(spec["parallelism"]):
            for name in [*wanted[:1], *sorted(free, reverse=True)]:
                if free[name] >= each:
                    free[name] -= each
                    placed[name] = placed.get(name, 0) + each
                    wanted = wanted[1:]
                    break
            else:
                self.homeless.append(key)
        return placed

    def _free(self, node: Node) -> int:
        return node.allocatable[GPU] - sum(pods.get(node.name, 0) for pods in self._pods.values())

    def _seen(self, name: str) -> Node:
        attempts = {}
        for key, placed in sorted(self._pods.items()):
            if name in placed:
                asked = self._asks(key)
                count = placed[name] // asked[GPU]
                attempts[key] = Pods({"pod": count}, scale({**asked, "pods": 1}, count))
        return msgspec.structs.replace(self.nodes[name], attempts=attempts)

    def _asks(self, key: str) -> Resources:
        """What each pod of an attempt asks for, with its cpu converted as Koordinator does it."""
        for manifest in self.cluster.objects.values():
            labels = manifest["metadata"].get("labels") or {}
            if key == f"{labels.get(JOB_LABEL)}/{labels.get(ATTEMPT_LABEL)}":
                template = manifest["spec"]["template"]
                limits = template["spec"]["containers"][0]["resources"]["limits"]
                asked = {name: parse_quantity(name, amount) for name, amount in limits.items()}
                return in_batch(asked) if BATCH_LABEL in (template["metadata"].get("labels") or {}) else asked
        return {GPU: 1}

    async def report(self, full: bool) -> None:
        if self.silent:
            return
        nodes = {name: self._seen(name) for name in self.nodes}
        changed = tuple(node for name, node in nodes.items() if full or self._told.get(name) != node)
        gone = tuple(name for name in self._told if name not in nodes)
        self._told = nodes
        self._sequence += 1
        said = fleet.Report(
            at=self._clock.now(),
            cluster=self.cluster.name,
            epoch=_EPOCH,
            sequence=self._sequence,
            full=full,
            nodes=changed,
            gone=() if full else gone,
            kinds=(KIND,),
        )
        name = f"{self.cluster.name}-{_EPOCH}-{self._sequence}"
        await insist(
            self._bus, Outgoing(name, subjects.cluster("report", self.cluster.name), msgspec.json.encode(said))
        )


async def insist(bus: MemoryBus, word: Outgoing) -> None:
    """As every client of a bus does: says it again, under the same id, until it is stored."""
    while True:
        try:
            return await bus.publish([word])
        except Unreachable:
            continue
