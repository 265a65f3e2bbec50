"""One node of a member: what is listed of it, what online pods use, and what Spark's pods take."""

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from msgspec import Struct, field

from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY, Resources
from fairway.lab.bench.idle import koordinator
from fairway.lab.bench.idle.application import DRIVER, SparkPod
from fairway.lab.bench.idle.koordinator import CpuMemory
from fairway.lab.bench.idle.online import MIB, MINUTES, SYSTEM_CPU, SYSTEM_MEMORY, NodeDay
from fairway.lab.kubesim.nodes import NodeGroup

Json = dict[str, Any]
# koordlet looks at use so often (cpu-suppress-interval-seconds).
_SUPPRESSED_AFTER_S = 1.0


class NodeTotals(Struct):
    """Core-seconds, minute by minute: what was there, what online pods and the system used, what Koordinator's formula
    leaves of it, what Spark's pods used of that; and online use for which there was no processor because of these, as
    koordlet suppresses them (`delayed`), and if nobody did (`unsuppressed`)."""

    size: float = 0.0
    online: float = 0.0
    idle: float = 0.0
    batch: float = 0.0
    delayed: float = 0.0
    unsuppressed: float = 0.0


class IdleNode(Struct):
    """`listed` was written at `written` (s). `pods` are those of Spark by a name that is the node's own."""

    day: NodeDay
    size: CpuMemory
    system: CpuMemory
    listed: Resources
    evicts: bool
    written: float = 0.0
    minute: int = 0
    pods: dict[str, SparkPod] = field(default_factory=dict)
    taken: CpuMemory = CpuMemory(0, 0)
    satisfied: float = 1.0

    @property
    def name(self) -> str:
        return self.day.row.name

    @property
    def online(self) -> CpuMemory:
        """Now."""
        at = self.minute % MINUTES
        return CpuMemory(int(self.day.cpu[at]), int(self.day.memory[at]))

    def pass_to(self, minute: int, now: float) -> bool:
        """Whether Koordinator writes new figures into the node."""
        self.minute = minute
        figures = self._figures()
        if not koordinator.is_written(self.listed, figures, now - self.written):
            return False
        self.listed = figures
        self.written = now
        return True

    def _figures(self) -> Resources:
        at = self.minute % MINUTES
        counted = CpuMemory(int(self.day.counted_cpu[at]), int(self.day.counted_memory[at]))
        return koordinator.batch(self.size, counted, self.system)

    def suppress(self) -> float:
        """What part of what they ask for Spark's pods are left with from now on."""
        self.satisfied = koordinator.satisfaction(self.size, self.online, self.system, self.taken.cpu)
        return self.satisfied

    def to_evict(self) -> list[str]:
        if not self.evicts:
            return []
        rest = CpuMemory(self.online.cpu + self.system.cpu, self.online.memory + self.system.memory)
        pods = [(name, self.pods[name].use) for name in sorted(self.pods, key=self._turn)]
        return koordinator.evicted(pods, self.size, rest, self.satisfied)

    def _turn(self, name: str) -> tuple[bool, int]:
        """koordlet begins with pods that use most of their request, and of memory: executors work, drivers wait. Among
        equals it has no order, and neither has this."""
        return self.pods[name].role == DRIVER, crc32(name.encode())

    def fits(self, use: CpuMemory) -> bool:
        return self.free.cpu >= use.cpu and self.free.memory >= use.memory

    @property
    def free(self) -> CpuMemory:
        """Of what is listed; less than nothing where less is listed than was given out."""
        return CpuMemory(self.listed[BATCH_CPU] - self.taken.cpu, self.listed[BATCH_MEMORY] - self.taken.memory)

    def put(self, key: str, pod: SparkPod) -> None:
        self.pods[key] = pod
        self.taken = CpuMemory(self.taken.cpu + pod.use.cpu, self.taken.memory + pod.use.memory)

    def drop(self, key: str) -> None:
        use = self.pods.pop(key).use
        self.taken = CpuMemory(self.taken.cpu - use.cpu, self.taken.memory - use.memory)

    def count(self, totals: NodeTotals, seconds: float) -> None:
        """For so long from now on."""
        online = self.online.cpu
        busy = online + self.system.cpu
        in_seconds = seconds / 1000
        totals.size += self.size.cpu * in_seconds
        totals.online += busy * in_seconds
        totals.idle += koordinator.batch(self.size, self.online, self.system)[BATCH_CPU] * in_seconds
        suppressed = self.taken.cpu * self.satisfied
        totals.batch += suppressed * in_seconds
        at_first = self._lacking(busy, self.taken.cpu)
        totals.unsuppressed += at_first * in_seconds
        totals.delayed += at_first * _SUPPRESSED_AFTER_S / 1000
        totals.delayed += self._lacking(busy, suppressed) * (seconds - _SUPPRESSED_AFTER_S) / 1000

    def _lacking(self, busy: int, batch: float) -> float:
        """Millicores that are used above what the node has, because of pods of Spark."""
        return max(0.0, busy + batch - self.size.cpu) - max(0, busy - self.size.cpu)

    def manifest(self) -> Json:
        return node_group(self.day, self.listed).node(self.name)


def idle_node(day: NodeDay, evicts: bool = True) -> IdleNode:
    size = CpuMemory(day.row.cpu_milli, day.row.memory_mib * MIB)
    system = CpuMemory(int(size.cpu * SYSTEM_CPU), int(size.memory * SYSTEM_MEMORY))
    made = IdleNode(day, size, system, {}, evicts)
    made.pass_to(0, 0.0)
    return made


def node_group(day: NodeDay, listed: Mapping[str, int]) -> NodeGroup:
    """Of one node."""
    batch = {name: str(amount) for name, amount in listed.items()}
    size = {"cpu": f"{day.row.cpu_milli}m", "memory": f"{day.row.memory_mib}Mi"}
    return NodeGroup(1, day.row.name, {**size, **batch})


def idle_core_seconds(day: NodeDay) -> float:
    """What Koordinator's formula leaves of the node in a day, by the use of each minute."""
    node = idle_node(day)
    totals = NodeTotals()
    for minute in range(MINUTES):
        node.minute = minute
        node.count(totals, 60.0)
    return totals.idle
