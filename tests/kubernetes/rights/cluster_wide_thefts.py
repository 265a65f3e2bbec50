"""What a thief tries with what belongs to the whole member: PriorityClasses, queues of Volcano, and profiles of
Koordinator."""

from typing import Any

from tests.kubernetes.rights.thefts import Json, Try

CLASSES = "scheduling.k8s.io/v1/priorityclasses"
PROFILES = "config.koordinator.sh/v1alpha1/clustercolocationprofiles"
QUEUES = "scheduling.volcano.sh/v1beta1/queues"


def queue(notes: Json | None = None, **spec: Any) -> Json:
    meta = {"name": "his", "annotations": notes or {}}
    head = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    return {**head, "metadata": meta, "spec": {"weight": 1, "reclaimable": False, **spec}}


CLUSTER_WIDE_TRIES = {
    "a class that drives others out": Try(
        "POST", CLASSES, {"metadata": {"name": "x"}, "value": 1000}, "drives out nobody"
    ),
    "a class for everybody": Try(
        "POST",
        CLASSES,
        {"metadata": {"name": "x"}, "value": 1, "preemptionPolicy": "Never", "globalDefault": True},
        "drives out nobody",
    ),
    "a class for batch resources that comes before others": Try(
        "POST",
        CLASSES,
        {"metadata": {"name": "fairway-batch"}, "value": 1000, "preemptionPolicy": "Never"},
        "which give way to others",
    ),
    "another value for a class": Try(
        "PATCH", f"{CLASSES}/fairway-hold-0", {"description": "x"}, "cannot patch resource"
    ),
    "a class deleted": Try("DELETE", f"{CLASSES}/fairway-hold-0", None, "cannot delete resource"),
    "a profile of Koordinator's": Try("POST", PROFILES, {"metadata": {"name": "x"}}, "cannot create resource"),
    "another profile for batch resources": Try(
        "PATCH", f"{PROFILES}/fairway-batch", {"spec": {"qosClass": "LS"}}, "cannot patch resource"
    ),
    "a queue with more weight": Try("POST", QUEUES, queue(weight=100), "has weight 1"),
    "a queue that keeps room for itself": Try(
        "POST", QUEUES, queue(guarantee={"resource": {"cpu": 8}}), "has weight 1"
    ),
    "a queue that others may take room from": Try("POST", QUEUES, queue(reclaimable=True), "is not reclaimable"),
    "a queue below another": Try("POST", QUEUES, queue(parent="theirs"), "says nothing else"),
    "a queue elsewhere in a hierarchy": Try(
        "POST", QUEUES, queue({"volcano.sh/hierarchy": "root/theirs"}), "says nothing else"
    ),
    "another weight for a queue": Try("PATCH", f"{QUEUES}/own", {"spec": {"weight": 9}}, "cannot patch resource"),
    "a queue deleted": Try("DELETE", f"{QUEUES}/own", None, "cannot delete resource"),
    "the queues of all": Try("GET", QUEUES, None, "cannot list resource"),
}
