"""Gangs of pods as their owners write them, and written out: the leader's pod with the others beside its spec."""

from typing import Any

Json = dict[str, Any]
TENANT = "team-a"
KUEUE: Json = {
    "labels": {"kueue.x-k8s.io/pod-group-name": "g"},
    "annotations": {"kueue.x-k8s.io/pod-group-total-count": "3"},
}
KOORDINATOR: Json = {
    "annotations": {
        "gang.scheduling.koordinator.sh/name": "g",
        "gang.scheduling.koordinator.sh/min-available": "3",
        "gang.scheduling.koordinator.sh/total-number": "3",
    }
}
# A mark for each kind of PodGroup, and what is beside the pods then.
VOLCANO: Json = {"annotations": {"scheduling.k8s.io/group-name": "g"}}
COSCHEDULING: Json = {"labels": {"pod-group.scheduling.sigs.k8s.io": "g"}}
SCHEDULER_PLUGINS: Json = {"labels": {"scheduling.x-k8s.io/pod-group": "g"}}


def pod_group(version: str = "scheduling.volcano.sh/v1beta1", **spec: Any) -> Json:
    """As it is applied."""
    meta = {"name": "g", "namespace": TENANT}
    return {"apiVersion": version, "kind": "PodGroup", "metadata": meta, "spec": {"minMember": 3, **spec}}


VERSIONS = (
    (VOLCANO, "scheduling.volcano.sh/v1beta1"),
    (COSCHEDULING, "scheduling.sigs.k8s.io/v1alpha1"),
    (SCHEDULER_PLUGINS, "scheduling.x-k8s.io/v1alpha1"),
)


def pod(name: str, marks: Json = KUEUE, cpu: str = "1", **spec: Any) -> Json:
    main = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    inside = {"containers": [main], "restartPolicy": "Never", **spec}
    meta = {"name": name, "namespace": TENANT, **marks}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": inside}


def written_out(leader: Json, *others: Any) -> Json:
    return {**leader, "gang": list(others)}


def gang(marks: Json = KUEUE, group: Json | None = None) -> Json:
    """A leader and two workers that are alike; with their PodGroup."""
    parts = {"podGroup": {key: group[key] for key in ("apiVersion", "kind", "spec")}} if group else {}
    return {**written_out(pod("a", marks, "2"), pod("b", marks), pod("c", marks)), **parts}
