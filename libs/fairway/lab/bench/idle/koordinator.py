"""What Koordinator 1.6 makes of the use of a node. Pure.

Its manager computes batch resources (pkg/slo-controller/noderesource/plugins/util, CalculateBatchResourceByPolicy) and
writes them into the node when they differ enough or are old (noderesource/resource_calculator.go, IsResourceDiff).
Its koordlet keeps best-effort pods below a share of the node (koordlet/qosmanager/plugins/cpusuppress, cpuevict,
memoryevict). All with the defaults of pkg/util/sloconfig.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY, Resources

CPU_RECLAIM_PERCENT = 60
MEMORY_RECLAIM_PERCENT = 65
# A node is written when a figure differs by more than this, or was written so long ago (s).
_DIFF = 0.1
_OLD_S = 300
_SUPPRESS_PERCENT = 65
# Best-effort pods have two processors at least.
_LEAST_MILLI = 2_000
# The feature BECPUEvict, which is off unless it is configured: from the first satisfaction on (percent of what pods ask
# for), until the second one is reached. The first is the largest that Koordinator takes.
_EVICT_BELOW = 60
_EVICT_UNTIL = 80
_MEMORY_EVICT_PERCENT = 70
_MEMORY_UNTIL_PERCENT = 68


class CpuMemory(Struct, frozen=True):
    """Millicores and bytes."""

    cpu: int
    memory: int


def batch(size: CpuMemory, counted: CpuMemory, system: CpuMemory) -> Resources:
    """Of a node of this size; `counted` is what Koordinator takes for the use of its online pods."""
    cpu = size.cpu * CPU_RECLAIM_PERCENT // 100 - system.cpu - counted.cpu
    memory = size.memory * MEMORY_RECLAIM_PERCENT // 100 - system.memory - counted.memory
    return {BATCH_CPU: max(0, cpu), BATCH_MEMORY: max(0, memory)}


def is_written(before: Mapping[str, int], now: Mapping[str, int], age_s: float) -> bool:
    """Whether the node gets its new figures; those that it lists, if any, were written `age_s` ago."""
    if not before or age_s > _OLD_S:
        return True
    return any(abs(amount - before[name]) > before[name] * _DIFF for name, amount in now.items())


def satisfaction(size: CpuMemory, online: CpuMemory, system: CpuMemory, asked: int) -> float:
    """What part of the millicores that best-effort pods ask for they are left with, by real use."""
    left = max(_LEAST_MILLI, size.cpu * _SUPPRESS_PERCENT // 100 - online.cpu - system.cpu)
    return min(1.0, left / asked) if asked else 1.0


def evicted(pods: Iterable[tuple[str, CpuMemory]], size: CpuMemory, rest: CpuMemory, satisfied: float) -> list[str]:
    """Which of these best-effort pods are evicted, in the order in which koordlet would take them; `rest` is the use of
    all else on the node."""
    known = list(pods)
    asked = CpuMemory(sum(use.cpu for _, use in known), sum(use.memory for _, use in known))
    cpu = asked.cpu * (_EVICT_UNTIL / 100 - satisfied) if satisfied * 100 <= _EVICT_BELOW else 0.0
    used = rest.memory + asked.memory
    too_much = used * 100 > size.memory * _MEMORY_EVICT_PERCENT
    memory = used - size.memory * _MEMORY_UNTIL_PERCENT // 100 if too_much else 0
    gone = []
    for name, use in known:
        if cpu <= 0 and memory <= 0:
            break
        gone.append(name)
        cpu -= use.cpu
        memory -= use.memory
    return gone
