"""Policies, quota trees and queues, good and bad: what the readers must say of each, and a hub's API server too."""

from collections.abc import Callable
from typing import Any

from fairway.domain.queue_policy import QueuePolicy, QueueSpec
from fairway.workloads.settings.policies import GROUPS, read_policy
from fairway.workloads.settings.queues import read_queue
from fairway.workloads.settings.quota_trees import read_quota_tree
from fairway.workloads.settings.tenant_profiles import read_tenant_profile

JOB = {"apiVersion": "batch/v1", "kind": "Job"}


def policy(name: str = "p", wide: bool = False, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": GROUPS[0],
        "kind": "ClusterPropagationPolicy" if wide else "PropagationPolicy",
        "metadata": {"name": name} if wide else {"name": name, "namespace": "team-data"},
        "spec": {"resourceSelectors": [JOB], **spec},
    }


FULL = policy(
    propagateDeps=True,
    preserveResourcesOnDeletion=False,
    priority=7,
    suspension={"scheduling": False},
    failover={"application": {"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": "Immediately"}},
    placement={
        "clusterAffinities": [
            {"affinityName": "first", "clusterNames": ["north"], "exclude": ["west"]},
            {"affinityName": "then", "labelSelector": {"matchLabels": {"gpu": "v100"}}},
        ],
        "clusterTolerations": [{"key": "drain", "operator": "Exists"}],
        "spreadConstraints": [{"spreadByField": "cluster", "maxGroups": 1, "minGroups": 1}],
        "replicaScheduling": {"replicaSchedulingType": "Divided", "customSchedulingType": "Gang"},
    },
)
TWO_WAYS = policy(placement={"clusterAffinity": {}, "clusterAffinities": [{"clusterNames": ["north"]}]})

PLACEMENT = "spec.placement"
CHANGES_WHERE = [
    ("a field selector", f"{PLACEMENT}.clusterAffinity.fieldSelector", {"matchExpressions": [{}]}, "not supported"),
    ("several groups", f"{PLACEMENT}.spreadConstraints", [{"maxGroups": 2}], "one cluster"),
    ("spread by region", f"{PLACEMENT}.spreadConstraints", [{"spreadByField": "region"}], "one cluster"),
    ("a full copy everywhere", f"{PLACEMENT}.replicaScheduling.replicaSchedulingType", "Duplicated", "runs a job once"),
    ("weights", f"{PLACEMENT}.replicaScheduling", {"replicaSchedulingType": "Divided"}, "runs a job in one"),
    ("a typing error", f"{PLACEMENT}.clusterAfinity", {"clusterNames": ["north"]}, "not supported"),
    ("a cluster name with a wildcard", f"{PLACEMENT}.clusterAffinity.clusterNames", ["nor*"], "not a cluster name"),
    ("a new field of the spec", "spec.autoScaling", {"ecsProvision": True}, "not supported"),
    ("keeping copies", "spec.preserveResourcesOnDeletion", True, "not supported"),
    ("never clearing up", "spec.failover.application.purgeMode", "Never", "failed copy"),
    ("holding single clusters", "spec.suspension.dispatchingOnClusters", {"clusterNames": ["x"]}, "not supported"),
    ("no selectors", "spec.resourceSelectors", [], "selects nothing"),
    ("a selector without a kind", "spec.resourceSelectors", [{"apiVersion": "batch/v1"}], "is missing"),
    ("another namespace", "spec.resourceSelectors", [{**JOB, "namespace": "team-x"}], "its own namespace"),
    ("a group without a kind", "apiVersion", "policy.karmada.io/v1", "policy.karmada.io/v1"),
    ("attempts of none", "metadata.annotations", {"fairway.io/max-attempts": "0"}, "from 1 to 100"),
    ("a timeout without a unit", "metadata.annotations", {"fairway.io/start-timeout": "300"}, "not a duration"),
    ("a timeout of a year", "metadata.annotations", {"fairway.io/start-timeout": "365d"}, "out of range"),
    ("an unknown way to hold room", "metadata.annotations", {"fairway.io/reserve": "maybe"}, "use one of auto, ledger"),
    ("an unknown annotation", "metadata.annotations", {"fairway.io/max-atempts": "3"}, "Fairway knows here"),
]


def tree(*children: dict[str, Any], **root: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": {"name": "tree", "namespace": "kube-system"},
        "spec": {"root": {"name": "root", "children": list(children), **root}},
    }


def node(name: str, cpu: int | None = None, least: int | None = None, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, **more}
    if cpu is not None:
        found["max"] = {"cpu": cpu}
    if least is not None:
        found["min"] = {"cpu": least}
    return found


ORGANISATION = tree(
    node(
        "research",
        40,
        20,
        children=[
            node("vision", 30, 10, namespaces=["team-vision"], attributes={"cost": "a"}),
            node("speech", 20, 10, namespaces=["team-speech", "team-audio"]),
        ],
    ),
    node("data", namespaces=["team-data"]),
    min={"cpu": 40},
    max={"cpu": 40, "memory": "9223372036854775807", "nvidia.com/gpu": 2147483647, "kube-queue/max-jobs": 100},
)

BAD_TREES = [
    (tree(node("a", 10, 20)), "root/a", "min 20 cpu is above max 10"),
    (tree(node("a", 50), max={"cpu": 40}), "root/a", "max 50 cpu is above 40 of root"),
    (tree(node("a", 30, 20), node("b", 30, 30), min={"cpu": 40}), "root", "add up to 50 cpu"),
    (tree(node("a", least=1)), "root", "add up to 1 cpu"),
    (tree(min={"cpu": 30}, max={"cpu": 40}), "root", "min 30 cpu is not max 40"),
    (tree(node("a"), node("b", children=[node("a")])), "root/b/a", "has the name of root/a"),
    (tree(node("root")), "root", "has the name of"),
    (tree(node("a", namespaces=["x"]), node("b", namespaces=["x"])), "root/b", "already in root/a"),
    (tree(node("a", namespaces=["x"], children=[node("b")])), "root/a", "both namespaces and children"),
    (tree(node("a", namespaces=["X"])), "root/a", "not a namespace"),
    (tree(node("a/b")), "root", "'a/b'"),
    (tree(node("a", min={"kube-queue/max-jobs": 1})), "root/a", "cannot be guaranteed"),
]


def queue(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "Queue",
        "metadata": {"name": "batch", "namespace": "kube-queue", **metadata},
        "spec": spec,
    }


QUEUES = [
    (queue({}), QueueSpec("batch", namespace="kube-queue")),
    (queue({"queuePolicy": "Block", "priority": 5}), QueueSpec("batch", QueuePolicy.BLOCK, 5, namespace="kube-queue")),
    (queue({"queuePolicy": "Round"}), QueueSpec("batch", QueuePolicy.PRIORITY, namespace="kube-queue")),
    (queue({"queuePolicy": "FIFO"}), QueueSpec("batch", QueuePolicy.BLOCK, by_time=True, namespace="kube-queue")),
    (
        queue({"queuePolicy": "Priority"}, labels={"kube-queue/queue-policy": "Block"}),
        QueueSpec("batch", QueuePolicy.BLOCK, namespace="kube-queue"),
    ),
    (
        queue({}, annotations={"fairway.io/allow-namespaces": "team-a, team-b,"}),
        QueueSpec("batch", namespace="kube-queue", allows=("team-a", "team-b")),
    ),
    (
        queue({"priorityClassName": "high"}, annotations={"kube-queue/quota-fullname": "root/data"}),
        QueueSpec("batch", leaf="root/data", priority_class="high", namespace="kube-queue"),
    ),
]


def volcano_queue(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "batch", **metadata},
        "spec": spec,
    }


BAD_QUEUES = [
    (queue({"queuePolicy": "Intelligent"}), "spec.queuePolicy"),
    (queue({"priority": "5"}), "spec.priority"),
    (queue({}, name="A"), "metadata.name"),
    (
        queue({}, annotations={"fairway.io/allow-namespaces": "team-a,*"}),
        "metadata.annotations['fairway.io/allow-namespaces']",
    ),
    (
        queue({}, annotations={"fairway.io/allow-namespace": "team-a"}),
        "metadata.annotations['fairway.io/allow-namespace']",
    ),
    (
        queue({}, annotations={"fairway.io/protect-after": "30m"}),
        "metadata.annotations['fairway.io/protect-after']",
    ),
    ({**queue({}), "kind": "Line"}, "kind"),
]

PROFILE: dict[str, Any] = {
    "apiVersion": "fairway.io/v1alpha1",
    "kind": "TenantProfile",
    "metadata": {"name": "a"},
    "spec": {"namespaces": ["team-a"]},
}

READ_BY: dict[str, Callable[[dict[str, Any]], object]] = {
    "PropagationPolicy": read_policy,
    "ElasticQuotaTree": read_quota_tree,
    "Queue": read_queue,
    "TenantProfile": read_tenant_profile,
}
