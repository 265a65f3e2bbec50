"""What the benchmark on real Kubernetes applies, and what it asks the API servers about themselves."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.lab.kubereal.members import RealMember
from fairway.lab.kubesim.nodes import NodeGroup
from fairway.workloads.member_copy import JOB_LABEL

Json = dict[str, Any]
JOB = "PyTorchJob.kubeflow.org/v1"
POLICY = "PropagationPolicy.policy.karmada.io/v1alpha1"
TENANT = "default"
# One node of one GPU in one cluster, for which jobs wait in turn.
SMALL = {"fairway.test/size": "small"}
_GPU = "nvidia.com/gpu"
GPUS_PER_JOB = 2
NODES = 4
_AT_ONCE = 32


def members(gpus: int) -> tuple[RealMember, ...]:
    """Three clusters that know PyTorchJob and have no operator of it: what is measured ends when the job is there. Few
    nodes, with `gpus` each: heartbeats would take the time of the two cores that the jobs are measured on."""
    made = []
    for name in ("north", "south", "west"):
        size = {"cpu": "1k", "memory": "8Ti", "pods": "1k", _GPU: str(gpus)}
        groups = [NodeGroup(NODES, f"{name}-node", size)]
        if name == "north":
            groups.append(NodeGroup(1, "north-small", {**size, _GPU: "1"}, SMALL))
        made.append(RealMember(name, nodes=tuple(groups), modules=("training",), reserve="ledger"))
    return tuple(made)


def job(name: str, selector: Mapping[str, str] | None = None) -> Json:
    """One master and one worker with a GPU; with a node selector, a master alone."""
    pod: Json = {
        "containers": [{"name": "pytorch", "image": "example.org/train:1", "resources": {"limits": {_GPU: 1}}}]
    }
    if selector:
        pod["nodeSelector"] = dict(selector)
    replica = {"replicas": 1, "restartPolicy": "OnFailure", "template": {"spec": pod}}
    roles = {"Master": replica} if selector else {"Master": replica, "Worker": replica}
    return {"metadata": {"name": name, "namespace": TENANT}, "spec": {"pytorchReplicaSpecs": roles}}


def policy(name: str) -> Json:
    """A policy for this job alone."""
    chosen = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": name}
    return {"metadata": {"name": name, "namespace": TENANT}, "spec": {"resourceSelectors": [chosen]}}


class Sightings:
    """When the jobs came to be in a member, and where; in seconds of the loop's clock. `arrived` hears of each."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        self._arrived = arrived
        self.sent: dict[str, float] = {}
        self.seen: dict[str, float] = {}
        self.places: Counter[str] = Counter()
        self.twice = 0
        self._news = asyncio.Event()

    async def watch(self, member: KubernetesCluster) -> None:
        now = asyncio.get_running_loop().time
        uids: set[str] = set()
        async for change in member.watch(JOB, JOB_LABEL):
            uid = str((change.manifest.get("metadata") or {}).get("uid"))
            if change.gone or change.synced or uid in uids:
                continue
            uids.add(uid)
            self.twice += change.name in self.seen
            self.seen.setdefault(change.name, now())
            self.places[member.name] += 1
            self._news.set()
            self._arrived()

    async def all_of(self, names: Sequence[str], patience_s: float = 60.0) -> None:
        """Waits until all have been seen. RuntimeError when none comes for a while."""
        left = [name for name in names if name not in self.seen]
        while left:
            self._news.clear()
            try:
                async with asyncio.timeout(patience_s):
                    await self._news.wait()
            except TimeoutError:
                raise RuntimeError(
                    f"{len(left)} of {len(names)} jobs, {left[0]} the first, came to no member for {patience_s:.0f} s"
                ) from None
            left = [name for name in left if name not in self.seen]

    def latencies(self, names: Sequence[str]) -> list[float]:
        """Milliseconds from sent to seen."""
        return [(self.seen[name] - self.sent[name]) * 1000 for name in names]


Calls = dict[str, Counter[str]]


async def calls(clusters: Mapping[str, KubernetesCluster]) -> Calls:
    """Requests answered since the servers began: by server, by `VERB resource/subresource`."""
    found: Calls = {}
    for name, cluster in clusters.items():
        text = (await cluster.raw("/metrics")).decode()
        counted: Counter[str] = Counter()
        lines = "\n".join(line for line in text.splitlines() if line.startswith("apiserver_request_total{"))
        for family in text_string_to_metric_families(lines + "\n"):
            for sample in family.samples:
                at = sample.labels
                what = "/".join(filter(None, (at.get("resource"), at.get("subresource"))))
                counted[f"{at['verb']} {what}".strip()] += int(sample.value)
        found[name] = counted
    return found


def calls_per_job(before: Calls, after: Calls, jobs: int) -> dict[str, dict[str, float]]:
    """What was asked between, a job; what comes with time and not with jobs (leases, far less than one in ten jobs)
    is left out."""
    spent: dict[str, dict[str, float]] = {}
    for name in before:
        more = {what: count - before[name][what] for what, count in after[name].items()}
        spent[name] = {what: round(count / jobs, 2) for what, count in sorted(more.items()) if count * 10 >= jobs}
    return spent


async def submit(hub: KubernetesCluster, sightings: Sightings, names: Sequence[str]) -> None:
    """Applies each job with its policy, as fast as the hub takes them."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str) -> None:
        async with gate:
            await hub.create(POLICY, policy(name))
            sightings.sent[name] = asyncio.get_running_loop().time()
            await hub.create(JOB, job(name))

    await asyncio.gather(*map(one, names))


async def offer(hub: KubernetesCluster, sightings: Sightings, names: Sequence[str], rate: float) -> None:
    """Applies them one by one, `rate` a second."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for at, name in enumerate(names):
        await asyncio.sleep(max(0.0, begun + at / rate - loop.time()))
        await submit(hub, sightings, [name])


async def finish(member: KubernetesCluster, name: str) -> float:
    """The job ends there; when it was said, in seconds of the loop's clock."""
    at = asyncio.get_running_loop().time()
    condition = {"type": "Succeeded", "status": "True", "reason": "Bench", "message": "ended by the benchmark"}
    body: Json = {"status": {"conditions": [condition], "replicaStatuses": {}}}
    if await member.patch(JOB, TENANT, name, body, "status") is None:
        raise RuntimeError(f"{name} is not in {member.name}")
    return at


# Its policy, and the job on the hub and in a member: nobody brings a job to a cluster with fewer.
LEAST_WRITES = 3


async def bare(member: KubernetesCluster, jobs: int, cpu: Callable[[], Mapping[str, float]]) -> dict[str, float]:
    """What the API servers alone take: the least writes of so many jobs, made in one member by this client, for objects
    that are nobody's. `cpu` says what each process has used, in seconds."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str) -> None:
        async with gate:
            await member.create(JOB, job(name))

    before = cpu()
    begun = asyncio.get_running_loop().time()
    await asyncio.gather(*(one(f"bare-{at}") for at in range(jobs * LEAST_WRITES)))
    took = asyncio.get_running_loop().time() - begun
    after = cpu()
    spent = sum(after[name] - before[name] for name in after if name != "bench")
    return {"bare_jobs_per_second": round(jobs / took, 1), "bare_cpu_ms_per_job": round(spent / jobs * 1000, 2)}
