"""The load of the benchmark: tenants under a quota tree of three levels, their policies, clusters, and a mix of jobs.

Most jobs are PyTorchJobs of one GPU and a few are gangs of up to 64, as in the Philly trace with a heavier tail; one
in ten is of another kind. Manifests have about 4 KiB. All from one seed.
"""

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from fairway.domain.names import job_id
from fairway.lab.bench.pipeline.agents import ReportedNodes
from fairway.runtime.ports import Outgoing
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node
from fairway.wire.envelope import Actor
from fairway.workloads.settings.quota_trees import read_quota_tree

# A benchmark plays the door of a fleet of its own.
BENCH = Actor("bench", "bench")
_encode = msgspec.json.Encoder().encode
_GROUPS = 5
NAME = "fairway-bench-job"
PLENTY = {"cpu": "10000000", "memory": "40000Ti", "nvidia.com/gpu": "10000000", "kube-queue/max-jobs": "10000000"}
_ROOT = {"max": PLENTY, "min": {"nvidia.com/gpu": PLENTY["nvidia.com/gpu"]}}
# GPUs of a PyTorchJob and how many in a thousand ask for so many; the Philly trace has 934, 21, 23, 20, 2, 1 and none.
_GPUS = {1: 800, 2: 60, 4: 60, 8: 50, 16: 20, 32: 7, 64: 3}
_OTHERS = ("Job", "SparkApplication", "VolcanoJob")
# With the mix above a job asks for 2.1 GPUs; room for half as much again, so that packing never has to be perfect.
_GPUS_PER_JOB = 3
KINDS = (
    "PyTorchJob.kubeflow.org/v1",
    "Job.batch/v1",
    "SparkApplication.sparkoperator.k8s.io/v1beta2",
    "Job.batch.volcano.sh/v1alpha1",
)


class GangSize(Struct, frozen=True):
    """`jobs` in all, over every phase: the clusters are given room for them, as the stubs never end one. Tenant
    `narrow` may have one job at a time, all others as many as they like."""

    jobs: int
    clusters: int = 10
    nodes: int = 250
    tenants: int = 50
    seed: int = 1
    narrow: str = ""

    @property
    def node_gpus(self) -> int:
        """GPUs of one node: 8, or as many multiples of 8 as it takes for every job to have its room."""
        needed = self.jobs * _GPUS_PER_JOB // (self.clusters * self.nodes)
        return max(8, (needed + 7) // 8 * 8)


def _configuration(size: GangSize) -> list[Outgoing]:
    """The quota tree, one policy for each tenant, and the clusters by name."""
    groups: list[list[dict[str, Any]]] = [[] for _ in range(_GROUPS)]
    for index in range(size.tenants):
        most = PLENTY | ({"kube-queue/max-jobs": "1"} if _tenant(index) == size.narrow else {})
        groups[index % _GROUPS].append({"name": f"tenant-{index}", "namespaces": [_tenant(index)], "max": most})
    limited = [{"name": f"group-{at}", "max": PLENTY, "children": leaves} for at, leaves in enumerate(groups) if leaves]
    said = [quota_tree(limited)]
    for index in range(size.tenants):
        said.append(configured("PropagationPolicy", _tenant(index), "all", policy(_tenant(index), {"pool": "gpu"})))
    return said + [configured("Cluster", "", _cluster(at), {"labels": {"pool": "gpu"}}) for at in range(size.clusters)]


def ground(size: GangSize) -> ReportedNodes:
    """Clusters of equal nodes, and what the hub says of them and of the tenants."""
    allocatable = {
        "cpu": 24_000 * size.node_gpus,
        "memory": size.node_gpus * 128 << 30,
        "nvidia.com/gpu": size.node_gpus,
        "pods": max(110, 8 * size.node_gpus),
    }
    names = [_cluster(at) for at in range(size.clusters)]
    nodes = {name: [Node(f"{name}-node-{at}", allocatable) for at in range(size.nodes)] for name in names}
    return ReportedNodes(_configuration(size), nodes, {name: {"pool": "gpu"} for name in names}, KINDS)


def submissions(size: GangSize) -> Iterator[tuple[str, Outgoing]]:
    """Endless: the id that the job is going to have, and the message that submits it."""
    draw = Random(size.seed)
    number = 0
    while True:
        number += 1
        tenant = _tenant(draw.randrange(size.tenants))
        name = f"bench-{number:07d}-{draw.randrange(16**4):04x}"
        kind = "PyTorchJob" if draw.random() < 0.9 else draw.choice(_OTHERS)
        gpus = draw.choices(list(_GPUS), list(_GPUS.values()))[0]
        yield submission(tenant, name, _template(kind, gpus, tenant))


def submission(tenant: str, name: str, template: bytes) -> tuple[str, Outgoing]:
    """The id that the job is going to have, and the message of the template under this name."""
    data = template.replace(NAME.encode(), name.encode())
    return job_id(tenant, name, name), Outgoing(name, subjects.job("submitted", tenant), data, "fairway.job")


def submitted(tenant: str, manifest: dict[str, Any]) -> bytes:
    """A message that submits it, with the name `NAME`."""
    raw = msgspec.Raw(_encode(manifest))
    return _encode(wire.Submitted(tenant=tenant, manifest=raw, client=NAME, source=BENCH.via, who=BENCH))


@cache
def _template(kind: str, gpus: int, tenant: str) -> bytes:
    manifest = {"PyTorchJob": _pytorch, "Job": _batch, "SparkApplication": _spark, "VolcanoJob": _volcano}[kind](gpus)
    manifest["metadata"] = {"name": NAME, "namespace": tenant, "labels": {"team": tenant, "app": "bench"}}
    return submitted(tenant, manifest)


def _pytorch(gpus: int) -> dict[str, Any]:
    """At most 8 GPUs a pod; a master alone, or a master with workers."""
    each = min(gpus, 8)
    pods = max(1, gpus // 8)
    replicas = {"Master": {"replicas": 1, "restartPolicy": "OnFailure", "template": pod_template(each)}}
    if pods > 1:
        replicas["Worker"] = {"replicas": pods - 1, "restartPolicy": "OnFailure", "template": pod_template(each, 8)}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": replicas}}


def _batch(_: int) -> dict[str, Any]:
    spec = {"parallelism": 4, "completions": 4, "template": pod_template(0)}
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": spec}


def _volcano(gpus: int) -> dict[str, Any]:
    tasks = [
        {"name": "ps", "replicas": 1, "template": pod_template(0, 8)},
        {"name": "worker", "replicas": 3, "template": pod_template(min(gpus, 2), 8)},
    ]
    spec = {"minAvailable": 4, "schedulerName": "volcano", "tasks": tasks}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": spec}


def _spark(_: int) -> dict[str, Any]:
    spec = {
        "type": "Python",
        "mode": "cluster",
        "image": "spark:3.5.3",
        "mainApplicationFile": "local:///app/main.py",
        "sparkVersion": "3.5.3",
        "sparkConf": {f"spark.bench.option.{at}": "x" * 60 for at in range(36)},
        "driver": {"cores": 1, "memory": "2g"},
        "executor": {"cores": 2, "instances": 3, "memory": "4g"},
    }
    return {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication", "spec": spec}


def pod_template(gpus: int, variables: int = 30, cores: int = 0) -> dict[str, Any]:
    """A pod template as people write them: most of its bytes are environment. Four cores a GPU, if nothing else is
    said."""
    amounts = {"cpu": str(cores or 4 * max(gpus, 1)), "memory": f"{32 * max(gpus, 1)}Gi"}
    limits = amounts | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    container = {
        "name": "pytorch",
        "image": "registry.example.org/train/pytorch:2.4.0-cuda12.1",
        "command": ["torchrun"],
        "args": ["train.py", "--epochs", "90"],
        "resources": {"limits": limits},
        "env": [{"name": f"TRAINING_SETTING_{at}", "value": "value-" + "x" * 60} for at in range(variables)],
    }
    return {"spec": {"restartPolicy": "Never", "containers": [container]}}


def policy(namespace: str, labels: dict[str, str]) -> dict[str, Any]:
    kinds = (one.split(".", 1) for one in KINDS)
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        # Stubbed clusters start nothing, and a job that never starts is taken back.
        "metadata": {"name": "all", "namespace": namespace, "annotations": {"fairway.io/start-timeout": "24h"}},
        "spec": {
            "resourceSelectors": [{"apiVersion": version, "kind": kind} for kind, version in kinds],
            "placement": {
                "clusterAffinity": {"labelSelector": {"matchLabels": labels}},
                "replicaScheduling": {"replicaSchedulingType": "Divided", "customSchedulingType": "Gang"},
            },
        },
    }


def quota_tree(children: list[dict[str, Any]], limits: dict[str, Any] = _ROOT) -> Outgoing:
    """Refused when the fleet would not take it, and measure jobs without any quota."""
    tree = manifest_of_tree(children, limits)
    read_quota_tree(tree)
    return configured("ElasticQuotaTree", "", "tree", tree)


def manifest_of_tree(children: list[dict[str, Any]], limits: dict[str, Any]) -> dict[str, Any]:
    root = {"name": "root", **limits, "children": children}
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": {"name": "tree"},
        "spec": {"root": root},
    }


def configured(kind: str, namespace: str, name: str, manifest: dict[str, Any]) -> Outgoing:
    raw = msgspec.Raw(_encode(manifest))
    said = fleet.Configured(kind=kind, namespace=namespace, name=name, manifest=raw, who=BENCH)
    return Outgoing(f"bench-{kind}-{namespace}-{name}", subjects.config(kind, namespace, name), _encode(said))


def _tenant(index: int) -> str:
    return f"team-{index}"


def _cluster(index: int) -> str:
    return f"cluster-{index}"
