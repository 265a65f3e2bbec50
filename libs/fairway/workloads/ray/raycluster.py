"""RayCluster of ray.io/v1: a head and groups of workers, for whoever sends work to it.

It is a service: KubeRay says of none that it ended. It is over when it is deleted, or when Fairway has given it up. A
RayCluster that KubeRay makes for a RayJob carries the labels of that job; it is its child, and no job of its own
(watcher, hub). "Running" is counted: KubeRay leaves state "ready" where it is when a pod is lost afterwards.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import RAY_CLUSTER
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, Phase, by_conditions, by_count, condition, count
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.ray import cluster_spec
from fairway.workloads.reading.fields import Field

_GROUP = ("spec", "workerGroupSpecs", "*")


class RayCluster(Kind):
    name = "RayCluster"
    api_version = "ray.io/v1"
    plural = "rayclusters"
    ends = RAY_CLUSTER
    managed_by = ("spec", "managedBy")
    in_place = ((*_GROUP, "replicas"), (*_GROUP, "minReplicas"), (*_GROUP, "maxReplicas"))
    name_limit = 53  # KubeRay 1.4 refuses longer names: it appends to them for the cluster's Services
    makes_services = True

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        return tuple(cluster_spec.read_pod_sets(manifest["spec"]).values())

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        return super().gang(manifest, pods) - cluster_spec.spare(manifest["spec"])

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        status = manifest["status"]
        if found := by_conditions(status, Failed=FAILED):
            return found
        # Without conditions, as KubeRay is before 1.3, its state is all that is said of the head.
        told = status["conditions"].value
        head = condition(status, "HeadPodReady") if told else status["state"].value == "ready"
        return by_count(bool(head) + count(status["readyWorkerReplicas"]), workload.gang_minimum)

    def priority(self, manifest: Field) -> str:
        return first_text(cluster_spec.priority_class(manifest["spec"]))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        yield from cluster_spec.label_paths(manifest["spec"], ("spec",))

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        yield from cluster_spec.pod_templates(manifest["spec"])

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        cluster_spec.check_head_service(manifest["spec"], ruling)

    def changes_in_place(self, manifest: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        """The replicas of a cluster that scales itself are its autoscaler's."""
        scaled = bool(manifest["spec"].get("enableInTreeAutoscaling"))
        return tuple(path for path in self.in_place if not scaled or path[-1] != "replicas")


RAYCLUSTER = RayCluster()
