"""A Ray cluster as KubeRay's kinds describe it: `rayClusterSpec` of a RayJob, `spec` of a RayCluster.

The autoscaler container has KubeRay's own default size. A cluster that scales itself is charged what it may grow to
(maxReplicas), as nobody asks Fairway when it grows; it starts with its minReplicas.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fairway.domain.resources import Resources
from fairway.wire.workload import PodSet
from fairway.workloads.kinds.kind import Path
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import MOST_POD_SETS, MOST_PODS, read_pod_set, read_replicas, read_requests

# KubeRay: BuildAutoscalerContainer.
_AUTOSCALER: Resources = {"cpu": 500, "memory": 512 * 2**20}


def scales_itself(cluster: Field) -> bool:
    return cluster["enableInTreeAutoscaling"].flag()


def read_pod_sets(cluster: Field, taken: Collection[str] = ()) -> dict[str, PodSet]:
    """The head and each group of workers, by name; no group may be called as one of `taken`."""
    found = {"head": read_pod_set("head", 1, cluster["headGroupSpec"]["template"], _autoscaler(cluster))}
    for group in cluster["workerGroupSpecs"].items(MOST_POD_SETS):
        name = group["groupName"].text()
        if not name or name in found or name in taken:
            group["groupName"].wrong("is missing or used twice", "give every worker group its own name")
        found[name] = read_pod_set(name, _workers(group, cluster)[0], group["template"])
    return found


def spare(cluster: Field) -> int:
    """How many pods of those that are charged it can start without."""
    if not scales_itself(cluster):
        return 0
    groups = (_workers(group, cluster) for group in cluster["workerGroupSpecs"].items(MOST_POD_SETS))
    return sum(most - least for most, least in groups)


def priority_class(cluster: Field) -> Field:
    return cluster["headGroupSpec"].at("template", "spec", "priorityClassName")


def label_paths(cluster: Mapping[str, Any], at: Path) -> Iterator[Path]:
    """Where the metadata of its pods stands; the cluster itself stands at `at`."""
    yield (*at, "headGroupSpec", "template", "metadata")
    for index in range(len(cluster.get("workerGroupSpecs") or ())):
        yield (*at, "workerGroupSpecs", index, "template", "metadata")


def pod_templates(cluster: Field) -> Iterator[Pod]:
    """The head's autoscaler may change its pods: KubeRay makes it an account, where the head names none."""
    template = cluster.at("headGroupSpec", "template")
    scaled = scales_itself(cluster)
    containers = tuple(PodView(one) for one in template.at("spec", "containers").items())
    if scaled:
        options = cluster["autoscalerOptions"]
        names = ("securityContext", "env", "envFrom")
        autoscaler = {
            "name": PodView(Field("autoscaler", cluster.problems)),
            **{name: PodView(options[name]) for name in names},
        }
        containers = (*containers, PodView(options, moved=autoscaler))
    head = PodView(template.at("spec", "containers"), entries=containers)
    yield of_template(template, scaled, containers=head)
    for group in cluster["workerGroupSpecs"].items():
        yield of_template(group["template"])


def check_head_service(cluster: Field, ruling: Ruling) -> None:
    """The head's Service is made as it is given: with addresses of others it would take what is sent to them."""
    taken = cluster.at("headGroupSpec", "headService", "spec", "externalIPs")
    if taken.given:
        ruling.baseline(PodView(taken), "takes what is sent to addresses outside the cluster")


def _autoscaler(cluster: Field) -> tuple[Resources, ...]:
    if not scales_itself(cluster):
        return ()
    resources = cluster["autoscalerOptions"]["resources"]
    return (read_requests(resources) if resources.given else _AUTOSCALER,)


def _workers(group: Field, cluster: Field) -> tuple[int, int]:
    """(most pods of a group, its least pods): replicas kept within minReplicas and maxReplicas, or maxReplicas where
    the cluster scales itself, times numOfHosts."""
    if group["suspend"].flag():
        return 0, 0
    least = read_replicas(group["minReplicas"], 0)
    most = group["maxReplicas"].whole(MOST_PODS)
    if scales_itself(cluster):
        if not group["maxReplicas"].given:
            group["maxReplicas"].wrong("is missing, so that the cluster may grow without end", "set it")
            return 1, 1
        replicas = most
    else:
        replicas = min(max(read_replicas(group["replicas"], 0), least), most)
    hosts = group["numOfHosts"].whole(1, 1, MOST_PODS)
    if replicas * hosts > MOST_PODS:
        group["replicas"].wrong(f"makes {replicas * hosts} pods", f"use at most {MOST_PODS}")
        return 1, 1
    return replicas * hosts, min(least, most) * hosts
