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


def pod(name: str, marks: Json = KUEUE, cpu: str = "1", **spec: Any) -> Json:
    main = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    inside = {"containers": [main], "restartPolicy": "Never", **spec}
    meta = {"name": name, "namespace": TENANT, **marks}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": inside}


def written_out(leader: Json, *others: Any) -> Json:
    return {**leader, "gang": list(others)}


def gang(marks: Json = KUEUE) -> Json:
    """A leader and two workers that are alike."""
    return written_out(pod("a", marks, "2"), pod("b", marks), pod("c", marks))
