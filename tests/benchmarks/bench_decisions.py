"""Placement decisions per second: one process, no bus and no cache.

    python tests/benchmarks/bench_decisions.py --clusters 100 --nodes 100 --decisions 4000

Nodes have 8 GPUs, half filled by gangs of 1 to 64 pods in 20 shapes. Decisions are made in turn by the service's
`decide`, with the message that says them encoded, and by `choose` alone; each is followed by what the scheduler's view
makes of it (assumed, the cache shows it, an older gang ends), so that two clusters have changed before the next: what
a decision reads anew of these is in its time, what the view does when they change is not.
"""

import argparse
import cProfile
import json
import pstats
import random
import resource
import statistics
import sys
import time
from collections import deque

import msgspec
from msgspec.structs import replace

from fairway.domain.decision import Heard
from fairway.domain.job import Job, State
from fairway.global_scheduler.decide import decide
from fairway.placement.choose import choose
from fairway.placement.cluster import ClusterView, taken
from fairway.placement.filters import Context
from fairway.placement.fleet import Fleet
from fairway.wire import jobs as wire
from fairway.wire import policy
from fairway.wire.capacity import ClusterInfo, Node, Slot
from fairway.wire.workload import PodSet, Workload

Placement = tuple[str, tuple[Slot, ...]]
NOW = 1000
GPU = "nvidia.com/gpu"
encode = msgspec.json.Encoder().encode
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


class View:
    """What `decide` sees of the service."""

    def __init__(self, clusters: Fleet) -> None:
        self.clusters = clusters
        self.jobs: dict[str, Job] = {}
        self.revs: dict[str, int] = {}
        self.stored: dict[str, Job | None] = {}
        self.version, self.freed, self.stale_after = 1, {"c0000": 1}, 30_000


class World:
    """The fleet with its running gangs, oldest first, and what was measured: nanoseconds of each `decide` with its
    record encoded, of each `choose` alone, and the records' sizes."""

    def __init__(self, views: dict[str, ClusterView], seed: int) -> None:
        self.view = View(Fleet(views))
        self.draw = random.Random(seed)
        self.kinds = shapes()
        self.running: deque[tuple[str, str, list[str]]] = deque()
        self.decided: list[int] = []
        self.chosen: list[int] = []
        self.bytes: list[int] = []
        self.misses = self.count = 0

    def step(self) -> None:
        """A decision, alternately by `decide` and by `choose` alone; then an older gang ends."""
        work = workload(self.draw, self.kinds)
        cluster, slots = self._decide(work) if self.count % 2 else self._choose(work)
        self.count += 1
        if cluster:
            self._begin(work, cluster, slots)
            if len(self.running) > 1:
                self.end(self.draw.randrange(len(self.running)))
        else:
            self.misses += 1

    def fill(self, share: float) -> None:
        """Gangs come, and some of them end, until so much of the GPUs is used."""
        while self.used() < share:
            work = workload(self.draw, self.kinds)
            cluster, slots = self._choose(work)
            self.count += 1
            self._begin(work, cluster, slots)
            if len(self.running) > 4 and self.draw.random() < 0.3:
                self.end(self.draw.randrange(len(self.running)))

    def _choose(self, work: Workload) -> Placement:
        start = time.perf_counter_ns()
        choice = choose(self.view.clusters, work, policy.Placement(), Context(now=NOW))
        self.chosen.append(time.perf_counter_ns() - start)
        return choice.cluster, choice.plan.slots if choice.plan else ()

    def _decide(self, work: Workload) -> Placement:
        job, heard = dequeued(f"job-{self.count}", work)
        self.view.jobs, self.view.revs = {job.id: job}, {job.id: job.rev}
        start = time.perf_counter_ns()
        (step,) = decide(self.view, heard, NOW).steps
        (said,) = [encode(one.message) for one in step.events]
        self.decided.append(time.perf_counter_ns() - start)
        self.bytes.append(len(said))
        message = step.events[0].message
        return (message.cluster, message.slots) if isinstance(message, wire.Placed) else ("", ())

    def _begin(self, work: Workload, cluster: str, slots: tuple[Slot, ...]) -> None:
        """What the scheduler's view makes of a placement: it is assumed, and then the cache shows it."""
        key, view = f"job-{self.count}/1", self.view.clusters[cluster]
        requests = {pods.name: pods.requests for pods in work.pod_sets}
        view.hold(key, slots, requests)
        amounts = taken(slots, requests)
        for name, amount in amounts.items():
            node = view.states[name].node
            view.put(replace(node, holds={**node.holds, key: amount}))
        self.running.append((cluster, key, list(amounts)))

    def end(self, index: int) -> None:
        cluster, key, nodes = self.running[index]
        del self.running[index]
        view = self.view.clusters[cluster]
        for name in nodes:
            node = view.states[name].node
            view.put(replace(node, holds={one: held for one, held in node.holds.items() if one != key}))

    def used(self) -> float:
        views = self.view.clusters.values()
        free = sum(view.totals.free[GPU] for view in views)
        return 1 - free / sum(view.totals.allocatable[GPU] for view in views)


def dequeued(name: str, work: Workload) -> tuple[Job, Heard]:
    """A job whose turn it is, and the message that says so."""
    spec = wire.JobSpec(
        workload=work, policy="PropagationPolicy team/job", placement=policy.Placement(), queue="gold",
        manifest=wire.ManifestRef(1, "9f" * 32, 4096),
    )  # fmt: skip
    job = Job(name, "team", State.DEQUEUED, 3, 3, 1, NOW, NOW, spec=spec, queue="gold", leaf=("root", "root/a"))
    return job, Heard(f"m-{name}", wire.Dequeued(job=name, tenant="team", attempt=1, rev=3, at=NOW))


def filled(clusters: int, nodes: int, seed: int) -> World:
    """Half full, spread over all clusters as a fleet that has run for a while."""
    world = World(fleet(clusters, nodes), seed)
    for name, view in list(world.view.clusters.items()):
        one = World({name: view}, world.draw.randrange(2**31))
        one.fill(0.5)
        one.view.clusters.clear()
        world.running += one.running
        world.count = max(world.count, one.count)  # keys are unique within a cluster
    return world


def measure(clusters: int, nodes: int, decisions: int, seed: int) -> dict[str, float]:
    """Figures of so many decisions by `decide`, after a quarter as many that are not counted; times in microseconds."""
    world = filled(clusters, nodes, seed)
    for _ in range(2 * max(decisions // 4, 200)):
        world.step()
    world.misses, world.decided, world.chosen, world.bytes = 0, [], [], []
    for _ in range(2 * decisions):
        world.step()
    return {
        "decisions_per_second": round(len(world.decided) / sum(world.decided) * 1e9),
        "choose_per_second": round(len(world.chosen) / sum(world.chosen) * 1e9),
        "record_bytes": round(statistics.fmean(world.bytes)),
        **{f"decide_us_{name}": value for name, value in spread(world.decided).items()},
        **{f"choose_us_{name}": value for name, value in spread(world.chosen).items()},
        "without_a_cluster": world.misses,
        "gpus_used": round(world.used(), 3),
        "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def spread(nanoseconds: list[int]) -> dict[str, float]:
    """In microseconds. Under other load the tenth part from below says most of the program, the last of the machine."""
    known = sorted(nanoseconds)
    return {f"p{part}": round(known[len(known) * part // 100] / 1000, 1) for part in (10, 50, 99)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--decisions", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    profile = cProfile.Profile()
    if options.profile:
        profile.enable()
    figures = measure(options.clusters, options.nodes, options.decisions, options.seed)
    profile.disable()
    if options.profile:
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(25)
    print(json.dumps({**vars(options), "figures": figures}))


if __name__ == "__main__":
    main()
