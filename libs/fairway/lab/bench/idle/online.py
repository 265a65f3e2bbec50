"""Online pods on the nodes of a fleet, and what they use, minute by minute of a day. Pure, and the same for a seed.

Which pods there are, what they request and how long each is there is the trace's. What they use is not in it and is
made up here: a share of the request of their own, that follows the day of their cluster, with noise, times in which
all pods of a cluster are busier, and times in which one pod uses all that it requests.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from fairway.lab.bench.idle.trace_rows import NodeRow, PodRow, TraceRows

MINUTES = 1440
MIB = 1 << 20
# Nodes are filled with online pods until these parts of them are requested, or no pod of so many drawn ones fits.
_CPU_FULL = 0.70
_MEMORY_FULL = 0.85
_DRAWS = 60
# Of a request a pod uses this on average (least, most likely, most), and at the height of the day so much more.
_SHARE = (0.2, 0.4, 0.7)
_SWING = 0.45
_NOISE = 0.05
# One minute's noise is so like that of the minute before.
_LIKE = 0.8
# Of each cluster: so many surges a day, of minutes, by which all pods use more.
_SURGES = 4
_SURGE_MINUTES = (10, 40)
_SURGE_FACTOR = (1.2, 1.7)
# Of each pod that is there all day: spikes to all that it requests.
_SPIKES = 4
_SPIKE_MINUTES = (3, 15)
_MEMORY_SHARE = (0.3, 0.6)
# Of a node's size.
SYSTEM_CPU = 0.02
SYSTEM_MEMORY = 0.03
# Koordinator's figures are means over so many minutes (metricAggregateDurationSeconds 300).
_AGGREGATED = 5
Series = NDArray[np.float64]


class NodeDay(Struct, frozen=True):
    """By minute: millicores and bytes that online pods use, and what Koordinator takes for it, which is the mean of
    five minutes, and of a pod that has just begun its request."""

    row: NodeRow
    cpu: Series
    memory: Series
    counted_cpu: Series
    counted_memory: Series


def clusters(trace: TraceRows, count: int, nodes: int) -> dict[str, list[NodeRow]]:
    """`nodes` for each of so many clusters, at equal distances in the list, dealt out in turn: each has the list's mix
    of sizes."""
    total = count * nodes
    taken = [trace.nodes[at * len(trace.nodes) // total] for at in range(total)]
    return {f"c{index + 1}": taken[index::count] for index in range(count)}


def day(trace: TraceRows, fleet: dict[str, list[NodeRow]], seed: int) -> dict[str, list[NodeDay]]:
    """Each cluster's day begins at an hour of its own, all equally far apart."""
    draw = np.random.default_rng(seed)
    found = {}
    for index, (name, rows) in enumerate(fleet.items()):
        busy = _curve(index * MINUTES / len(fleet)) * _surges(draw)
        found[name] = [_node_day(row, trace.online, busy, draw) for row in rows]
    return found


def _curve(peak: float) -> Series:
    minutes = np.arange(MINUTES)
    return 1 + _SWING * np.cos(2 * np.pi * (minutes - peak) / MINUTES)


def _surges(draw: np.random.Generator) -> Series:
    found = np.ones(MINUTES)
    for start in draw.integers(0, MINUTES, _SURGES):
        length = int(draw.integers(*_SURGE_MINUTES))
        found[start : start + length] *= draw.uniform(*_SURGE_FACTOR)
    return found


def _node_day(row: NodeRow, pods: Sequence[PodRow], busy: Series, draw: np.random.Generator) -> NodeDay:
    day = NodeDay(row, np.zeros(MINUTES), np.zeros(MINUTES), np.zeros(MINUTES), np.zeros(MINUTES))
    for pod in fill(row, pods, draw):
        _follow(day, pod, pods, busy, draw)
    return day


def fill(row: NodeRow, pods: Sequence[PodRow], draw: np.random.Generator) -> list[PodRow]:
    """What is on a node at some moment: long-lived pods are found more often than they come."""
    weights = np.array([pod.seconds for pod in pods], float)
    found: list[PodRow] = []
    cpu = row.cpu_milli * _CPU_FULL
    memory = row.memory_mib * _MEMORY_FULL
    gpu = 1000 * row.gpus
    for at in draw.choice(len(pods), _DRAWS, p=weights / weights.sum()):
        pod = pods[at]
        if pod.cpu_milli <= cpu and pod.memory_mib <= memory and pod.gpu_milli <= gpu:
            found.append(pod)
            cpu -= pod.cpu_milli
            memory -= pod.memory_mib
            gpu -= pod.gpu_milli
    return found


def _follow(day: NodeDay, pod: PodRow, pods: Sequence[PodRow], busy: Series, draw: np.random.Generator) -> None:
    """The pod for the rest of its time, and whoever comes after it: of the same size, for as long as any pod of the
    trace."""
    end = -(-int(pod.seconds * draw.uniform()) // 60)
    _add(day, pod, slice(0, max(1, end)), busy, draw)
    start = max(1, end)
    while start < MINUTES:
        minutes = max(1, pods[int(draw.integers(len(pods)))].seconds // 60)
        _add(day, pod, slice(start, start + minutes), busy, draw)
        start += minutes


def _add(day: NodeDay, pod: PodRow, there: slice, busy: Series, draw: np.random.Generator) -> None:
    busy = busy[there]
    share = np.clip(draw.triangular(*_SHARE) * busy + _noise(len(busy), draw), 0.02, 1.0)
    for _ in range(draw.poisson(_SPIKES * len(busy) / MINUTES)):
        start = draw.integers(len(busy))
        share[start : start + draw.integers(*_SPIKE_MINUTES)] = 1.0
    cpu = pod.cpu_milli * share
    memory = np.full(len(busy), pod.memory_mib * MIB * draw.uniform(*_MEMORY_SHARE))
    day.cpu[there] += cpu
    day.memory[there] += memory
    day.counted_cpu[there] += counted(cpu, pod.cpu_milli, there.start == 0)
    day.counted_memory[there] += counted(memory, pod.memory_mib * MIB, there.start == 0)


def _noise(count: int, draw: np.random.Generator) -> Series:
    found = draw.normal(0, _NOISE, count)
    for at in range(1, count):
        found[at] = _LIKE * found[at - 1] + (1 - _LIKE**2) ** 0.5 * found[at]
    return found


def counted(used: Series, request: float, known: bool) -> Series:
    """What Koordinator takes for the use of a pod: the mean of the last minutes, and its request as long as nothing was
    measured of it. `known`: it was there before."""
    sums = np.concatenate([np.zeros(1), np.cumsum(used)])
    minutes = np.arange(len(used))
    # What was measured by then is of the minutes before.
    first = np.maximum(0, minutes - _AGGREGATED)
    with np.errstate(invalid="ignore"):
        means = (sums[minutes] - sums[first]) / (minutes - first)
    means[0] = used[0] if known else request
    return np.asarray(means)
