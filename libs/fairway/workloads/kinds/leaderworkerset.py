"""LeaderWorkerSet of leaderworkerset.x-k8s.io/v1: `replicas` groups of one leader and size - 1 workers.

One whole group makes it useful. Its controller makes the leaders of all groups first, so the gang is all of these and
the workers of one group: with less room, leaders alone could take it. Where no template for leaders is given they are
made of the workers' template, and all pods are one pod set. A service: no status says that it ended. It is over when it
is deleted, or when Fairway has given it up.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import SERVING
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, Phase, by_conditions, count
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import MOST_PODS, read_pod_set, read_replicas

_LEADER = "leaderTemplate"
_WORKER = "workerTemplate"


class LeaderWorkerSet(Kind):
    name = "LeaderWorkerSet"
    api_version = "leaderworkerset.x-k8s.io/v1"
    plural = "leaderworkersets"
    ends = SERVING
    suspend_path = ()
    # A pod's label holds the name of its StatefulSet, `name-99999`, and ten digits of a revision after it.
    name_limit = 63 - len("-99999") - len("-0123456789")
    makes_services = True
    in_place = (("spec", "replicas"),)

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        spec = manifest["spec"]
        groups = read_replicas(spec["replicas"])
        template = spec["leaderWorkerTemplate"]
        size = template["size"].whole(1, 1, MOST_PODS)
        if groups * size > MOST_PODS:
            spec["replicas"].wrong(f"makes {groups * size} pods", f"use at most {MOST_PODS} pods")
            return ()
        if not template[_LEADER].given:
            return (read_pod_set("worker", groups * size, template[_WORKER]),)
        leaders = read_pod_set("leader", groups, template[_LEADER])
        return leaders, read_pod_set("worker", groups * (size - 1), template[_WORKER])

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        groups = read_replicas(manifest["spec"]["replicas"])
        size = super().gang(manifest, pods) // groups if groups else 1
        return groups + size - 1

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        status = manifest["status"]
        if found := by_conditions(status, Failed=FAILED):
            return found
        up = count(status["readyReplicas"])
        return Phase(RUNNING if up else PENDING, f"{up} whole {'group is' if up == 1 else 'groups are'} up")

    def priority(self, manifest: Field) -> str:
        template = manifest["spec"]["leaderWorkerTemplate"]
        return first_text(*(template.at(name, "spec", "priorityClassName") for name in (_LEADER, _WORKER)))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        template = manifest["spec"]["leaderWorkerTemplate"]
        for name in (_LEADER, _WORKER):
            if template.get(name):
                yield ("spec", "leaderWorkerTemplate", name, "metadata")

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        template = manifest["spec"]["leaderWorkerTemplate"]
        for name in (_LEADER, _WORKER):
            if template[name].given:
                yield of_template(template[name])


LEADERWORKERSET = LeaderWorkerSet()
