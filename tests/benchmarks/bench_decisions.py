"""Placement decisions per second: choose, assume, confirm, end; one process, no bus and no cache.

    python tests/benchmarks/bench_decisions.py --clusters 100 --nodes 100 --decisions 4000

Nodes have 8 GPUs, half filled by gangs of 1 to 64 pods in 20 shapes; then every decision is followed by
what the scheduler's loop does with it (hold, the cache shows it, an older gang ends), so that the index works
as it would. Prints JSON: decisions per second over all of that, and of `choose` alone, in microseconds.
"""

import argparse
import cProfile
import json
import pstats
import random
import resource
import sys
import time
from collections import deque

from msgspec.structs import replace

from fairway.placement.choose import Choice, choose
from fairway.placement.cluster import ClusterView, taken
from fairway.placement.filters import Context
from fairway.placement.fleet import Fleet
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.policy import Placement
from fairway.wire.workload import PodSet, Workload

GIB = 2**30
NODE = {"cpu": 96_000, "memory": 768 * GIB, "nvidia.com/gpu": 8, "ephemeral-storage": 1024 * GIB, "pods": 110}
KIND = "PyTorchJob.kubeflow.org/v1"
GANGS = (1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 32, 64)


def shapes() -> list[dict[str, int]]:
    """20 shapes: 1, 2, 4, 8 GPUs with four sizes of host memory, and four without GPUs."""
    gpus = [
        {"cpu": 8_000 * gpu, "memory": gpu * memory * GIB, "nvidia.com/gpu": gpu}
        for gpu in (1, 2, 4, 8)
        for memory in (16, 32, 48, 64)
    ]
    return gpus + [{"cpu": cpu, "memory": cpu // 250 * GIB} for cpu in (1_000, 2_000, 4_000, 8_000)]


def fleet(clusters: int, nodes: int) -> dict[str, ClusterView]:
    views = {}
    for index in range(clusters):
        name = f"c{index:04}"
        view = views[name] = ClusterView(
            ClusterInfo(name, kinds=(KIND,), labels={"zone": f"z{index % 3}"}, observed_at=1)
        )
        for number in range(nodes):
            node = f"n{number:04}"
            view.put(Node(node, dict(NODE), {"kubernetes.io/hostname": node, "gpu": "a100"}))
    return views


def workload(draw: random.Random, kinds: list[dict[str, int]]) -> Workload:
    pods = draw.choice(GANGS)
    asks = draw.choice(kinds)
    if asks.get("nvidia.com/gpu", 0) * pods > 128:
        pods = 16
    sets = (PodSet("Master", 1, asks), PodSet("Worker", pods - 1, asks))
    return Workload("kubeflow.org/v1", "PyTorchJob", "team", "job", sets[: 1 if pods == 1 else 2], pods)


class World:
    """The fleet with its running gangs, oldest first."""

    def __init__(self, views: dict[str, ClusterView], seed: int) -> None:
        self.views = Fleet(views)
        self.draw = random.Random(seed)
        self.kinds = shapes()
        self.running: deque[tuple[str, str, list[str]]] = deque()
        self.spent = 0.0
        self.misses = 0
        self.count = 0

    def decide(self) -> Choice:
        job = workload(self.draw, self.kinds)
        start = time.perf_counter()
        choice = choose(self.views, job, Placement(), Context(now=1000))
        self.spent += time.perf_counter() - start
        self.count += 1
        if choice.plan:
            key = f"job-{self.count}/1"
            view = self.views[choice.cluster]
            requests = {pods.name: pods.requests for pods in job.pod_sets}
            view.hold(key, choice.plan.slots, requests)
            amounts = taken(choice.plan.slots, requests)
            for name, amount in amounts.items():
                node = view.nodes[name]
                view.put(replace(node, holds={**node.holds, key: amount}))
            self.running.append((choice.cluster, key, list(amounts)))
        else:
            self.misses += 1
        return choice

    def end(self, index: int) -> None:
        cluster, key, nodes = self.running[index]
        del self.running[index]
        view = self.views[cluster]
        for name in nodes:
            node = view.nodes[name]
            view.put(replace(node, holds={one: held for one, held in node.holds.items() if one != key}))

    def used(self) -> float:
        free = sum(view.totals.free["nvidia.com/gpu"] for view in self.views.values())
        return 1 - free / sum(view.totals.allocatable["nvidia.com/gpu"] for view in self.views.values())


def fill(world: World) -> None:
    """Half full, spread over all clusters as a fleet that has run for a while."""
    for name, view in world.views.items():
        one = World({name: view}, world.draw.randrange(2**31))
        while one.used() < 0.5:
            one.decide()
            if len(one.running) > 4 and one.draw.random() < 0.3:
                one.end(one.draw.randrange(len(one.running)))
        world.running += one.running
        world.count = max(world.count, one.count)  # keys are unique within a cluster


def measure(world: World, decisions: int) -> dict[str, float]:
    warm = max(decisions // 4, 200)
    for _ in range(warm):
        step(world)
    world.spent, world.misses = 0.0, 0
    times = []
    start = time.perf_counter()
    for _ in range(decisions):
        before = world.spent
        step(world)
        times.append(world.spent - before)
    wall = time.perf_counter() - start
    times.sort()
    return {
        "decisions_per_second": round(decisions / wall),
        "choose_per_second": round(decisions / world.spent),
        "choose_us_mean": round(world.spent / decisions * 1e6, 1),
        "choose_us_p50": round(times[decisions // 2] * 1e6, 1),
        "choose_us_p99": round(times[decisions * 99 // 100] * 1e6, 1),
        "without_a_cluster": world.misses,
        "gpus_used": round(world.used(), 3),
        "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def step(world: World) -> None:
    choice = world.decide()
    if choice.plan and len(world.running) > 1:
        world.end(world.draw.randrange(len(world.running)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--decisions", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    start = time.perf_counter()
    world = World(fleet(options.clusters, options.nodes), options.seed)
    fill(world)
    setup = time.perf_counter() - start
    profile = cProfile.Profile()
    if options.profile:
        profile.enable()
    figures = measure(world, options.decisions)
    profile.disable()
    if options.profile:
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(25)
    world_figures = {"clusters": options.clusters, "nodes": options.nodes, "setup_seconds": round(setup, 1)}
    print(json.dumps({**world_figures, "decisions": options.decisions, "figures": figures}))


if __name__ == "__main__":
    main()
