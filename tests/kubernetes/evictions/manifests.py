"""What the tests of evictions apply to their hub: PyTorchJobs that run until they are deleted, quota and classes."""

from typing import Any

from msgspec import Struct

from fairway.workloads.reading.preemptible import EVICT_NOTICE

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
MODEL = f"{GPU}.product"
TREE = "scheduling.sigs.k8s.io/v1beta1/namespaces/kube-system/elasticquotatrees/evictions"


class Gang(Struct, frozen=True):
    """A job of so many pods of so many GPUs each. `clusters` are those where it may run, all if none is named; its pods
    are gone so many seconds after they were told to. It asks for `notice` before it is evicted, and for nodes with GPUs
    of that `model`."""

    namespace: str
    name: str
    pods: int = 1
    gpus: int = 8
    clusters: tuple[str, ...] = ()
    grace: int = 2
    priority: str = ""
    notice: str = ""
    model: str = ""

    def manifests(self) -> tuple[Json, Json]:
        """Its policy, and it."""
        meta: Json = {"name": self.name, "namespace": self.namespace}
        own = {**meta, "annotations": {EVICT_NOTICE: self.notice}} if self.notice else meta
        roles = {"Master": 1, **({"Worker": self.pods - 1} if self.pods > 1 else {})}
        specs = {role: {"replicas": count, "template": self._template()} for role, count in roles.items()}
        job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": own}
        selects = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": self.name}
        placement = {"clusterAffinity": {"clusterNames": [*self.clusters]}} if self.clusters else {}
        policy = {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "PropagationPolicy",
            "metadata": meta,
            "spec": {"resourceSelectors": [selects], "placement": placement},
        }
        return policy, {**job, "spec": {"pytorchReplicaSpecs": specs}}

    def _template(self) -> Json:
        # kwok plays what a container does that is asked to stop, and takes all of the grace.
        notes = {"fairway.test/run-for": "never", "fairway.test/stop-after": f"{self.grace}s"}
        main = {"name": "pytorch", "image": "x", "resources": {"limits": {GPU: str(self.gpus), "cpu": "1"}}}
        pod: Json = {"containers": [main], "terminationGracePeriodSeconds": self.grace}
        if self.priority:
            pod["priorityClassName"] = self.priority
        if self.model:
            pod["nodeSelector"] = {MODEL: self.model}
        return {"metadata": {"annotations": notes}, "spec": pod}


def tree(total: int, **leaves: Json) -> Json:
    """Under a root of so many GPUs: the fields of each leaf, by the namespace that it is named after."""
    amounts = {GPU: total}
    children = [{"name": name, "namespaces": [name], **more} for name, more in leaves.items()]
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": {"name": "evictions", "namespace": "kube-system"},
        "spec": {"root": {"name": "root", "min": amounts, "max": amounts, "children": children}},
    }


def least(gpus: int) -> Json:
    """A leaf that is sure of so many GPUs."""
    return {"min": {GPU: gpus}}


def priority_class(name: str, value: int, **more: Any) -> Json:
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
    return {**head, "value": value, **more}
