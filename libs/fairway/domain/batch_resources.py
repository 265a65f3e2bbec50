"""Koordinator's batch resources: what online pods leave of a node, as two more resources that the node lists.

`kubernetes.io/batch-cpu` counts millicores in whole numbers, `kubernetes.io/batch-memory` bytes (Koordinator 1.6,
apis/extension/resource.go). Both are computed from what pods really use, so that a node may list less than what it has
given out.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY, Resources
from fairway.wire.workload import PodSet, Workload

# In a member: by it Koordinator's webhook does to the pods of copies what `in_batch` does to their requests.
PROFILE_KIND = "ClusterColocationProfile.config.koordinator.sh/v1alpha1"
PROFILE = "fairway-batch"
# Of the class that a join makes for these pods: below the 0 of pods that name no class, and below what a cluster
# autoscaler adds nodes for (-10).
PRIORITY = -1_000
_IN_BATCH = {"cpu": BATCH_CPU, "memory": BATCH_MEMORY}
# Each is a part of another resource of the node, and never more than that.
PART_OF = {part: name for name, part in _IN_BATCH.items()}


def in_batch(requests: Mapping[str, int]) -> Resources:
    """The same amounts with cpu and memory out of what online pods leave; all else stays as it is. As Koordinator's
    webhook does to a pod (pkg/webhook/pod/mutating/cluster_colocation_profile.go, replaceAndEraseResource)."""
    found: Resources = {}
    for name, amount in requests.items():
        there = _IN_BATCH.get(name, name)
        found[there] = found.get(there, 0) + amount
    return found


def pods_in_batch(pods: Iterable[PodSet]) -> tuple[PodSet, ...]:
    """The same pods on what online pods leave."""
    return tuple(replace(one, requests=in_batch(one.requests)) for one in pods)


def on_batch(work: Workload) -> Workload:
    """The same job on what online pods leave."""
    return replace(work, pod_sets=pods_in_batch(work.pod_sets))


def on_normal(work: Workload) -> Workload:
    """The same job on cpu and memory; of one that may have either (`Workload.batch_first`)."""
    pods = tuple(replace(one, requests=_in_normal(one.requests)) for one in work.pod_sets)
    return replace(work, pod_sets=pods)


def _in_normal(requests: Mapping[str, int]) -> Resources:
    return {PART_OF.get(name, name): amount for name, amount in requests.items()}


def as_now(work: Workload, now: Workload) -> Workload:
    """`work` on what `now` runs on, of two manifests of a job that may have either."""
    return on_batch(work) if work.batch_first and batch_pod_sets(now) else work


def has_batch(amounts: Mapping[str, int]) -> bool:
    """Whether any of it is what online pods leave."""
    return not PART_OF.keys().isdisjoint(amounts)


def without_batch(amounts: Mapping[str, int]) -> Resources:
    """The rest of what a node has."""
    return {name: amount for name, amount in amounts.items() if name not in PART_OF}


def batch_pod_sets(work: Workload) -> tuple[str, ...]:
    """The names of the pod sets that run on batch resources, in their order."""
    return tuple(one.name for one in work.pod_sets if has_batch(one.requests))
