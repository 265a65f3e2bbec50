"""The load while instances come and go: small jobs on simulated clusters, which want more than their quota at times."""

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

from fairway.domain.quota.tree import QuotaNode
from fairway.lab.bench.pipeline.load import NAME, configured, manifest_of_tree, submission, submitted
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.kubesim.nodes import NodeGroup
from fairway.lab.kubesim.pod_behaviour import RUN_FOR
from fairway.runtime.ports import Outgoing
from fairway.workloads.settings.quota_trees import read_quota_tree

# Two groups of two tenants. Both groups full at once would be more than the root's max: whoever ends, in whatever
# group, may be whom a waiting job of the other has to be woken by.
_GROUPS = {"group-0": ("team-0", "team-1"), "group-1": ("team-2", "team-3")}
_LIMITS = {"max": {"cpu": 32}}
_GROUP_CPUS = 24
_RUN_MS = 200
_CLUSTERS = 3
_NODES = 4
# Room is never what a job waits for.
_NODE_CPUS = 64


def clusters() -> tuple[ClusterConfig, ...]:
    node = {"cpu": str(_NODE_CPUS), "memory": "256Gi", "pods": "1k"}
    return tuple(ClusterConfig(f"c{at}", nodes=(NodeGroup(_NODES, f"c{at}-node", node),)) for at in range(_CLUSTERS))


def settings() -> list[dict[str, Any]]:
    """The quota tree, and one policy for all, as the hub has them."""
    policy = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": "all"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}],
            "placement": {"clusterAffinity": {}},
        },
    }
    tree = manifest_of_tree(_groups(), _LIMITS)
    return [policy, {**tree, "metadata": {"name": "tree", "namespace": "kube-system"}}]


def configuration() -> list[Outgoing]:
    """The same on the bus, so that the first job meets them."""
    return [
        configured(one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"], one)
        for one in settings()
    ]


def tree() -> QuotaNode:
    """The quota tree, for an auditor."""
    return read_quota_tree(manifest_of_tree(_groups(), _LIMITS))


def _groups() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "max": {"cpu": _GROUP_CPUS},
            "children": [{"name": one, "namespaces": [one], "max": {"cpu": _GROUP_CPUS}} for one in tenants],
        }
        for name, tenants in _GROUPS.items()
    ]


def submissions(seed: int) -> Iterator[tuple[str, Outgoing]]:
    """Endless: the id that the job is going to have, and the message that submits it."""
    draw = Random(seed)
    tenants = [one for group in _GROUPS.values() for one in group]
    number = 0
    while True:
        number += 1
        tenant = draw.choice(tenants)
        yield submission(
            tenant, f"small-{number:07d}", submitted(tenant, _job(tenant, NAME, draw.choice((1, 1, 2, 4))))
        )


def hub_objects(seed: int) -> Iterator[dict[str, Any]]:
    """Endless: what is applied on the hub."""
    draw = Random(seed)
    tenants = [one for group in _GROUPS.values() for one in group]
    for number in count(1):
        yield _job(draw.choice(tenants), f"hub-{number:05d}", draw.choice((1, 1, 2, 4)))


def _job(tenant: str, name: str, cpus: int) -> dict[str, Any]:
    container = {"name": "work", "image": "example.org/work:1", "resources": {"requests": {"cpu": str(cpus)}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": tenant, "annotations": {RUN_FOR: f"{_RUN_MS}ms"}},
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
