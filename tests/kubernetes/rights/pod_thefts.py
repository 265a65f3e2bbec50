"""What a thief tries with pods, now that Fairway's account may make those that are jobs themselves; and what it may."""

from functools import partial
from typing import Any

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.propagator.gangs.apply import apply_gang
from fairway.propagator.held_room import PAUSE, Room, manifests
from fairway.wire.capacity import PLACEHOLDERS, Slot
from fairway.wire.workload import PodSet
from tests.kubernetes.rights.companion_thefts import CONFIG_MAPS
from tests.kubernetes.rights.thefts import DONE, EVIL, GATES_ONLY, HELD_POD, PODS, SEAL, Json, Try
from tests.kubernetes.support.fleet import Api

LABELS = {"fairway.io/job": "p1", "fairway.io/attempt": "1"}
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "first", "uid": "u", "controller": True}


def single(name: str, notes: Json | None = None, **metadata: Any) -> Json:
    """A pod that is a job itself."""
    named = {"name": name, "namespace": "team", "labels": {**LABELS, "fairway.io/alone": "true"}, **metadata}
    spec = {"containers": [{"name": "c", "image": "x"}], "schedulingGates": [{"name": "fairway.io/room"}]}
    return {"metadata": {**named, "annotations": SEAL if notes is None else notes}, "spec": spec}


SINGLE = PODS.format("team") + "/single"
OF_JOBS = "no pods but those of its jobs"
OURS_ALONE = "deletes no pods but"
POD_TRIES = {
    "a pod of his own": Try("POST", PODS.format("team"), {**single("x", {}), "metadata": {"name": "x"}}, OF_JOBS),
    "a pod of a job without a seal": Try("POST", PODS.format("team"), single("x", {}), OF_JOBS),
    "a pod that a Job would take for its own": Try(
        "POST", PODS.format("team"), single("x", ownerReferences=[OWNER]), OF_JOBS
    ),
    "a pod that goes with an object of somebody else": Try(
        "POST", PODS.format("team"), single("x", ownerReferences=[{**OWNER, "controller": False}]), OF_JOBS
    ),
    "a pod in kube-system": Try(
        "POST", PODS.format("kube-system"), single("x", namespace="kube-system"), "cannot create resource"
    ),
    "a pod in a stranger's namespace": Try(
        "POST", PODS.format("payments"), single("x", namespace="payments"), "cannot create resource"
    ),
    "another image for a pod that is a job": Try("PATCH", SINGLE, EVIL, GATES_ONLY),
    "a pod that is a job given to another": Try(
        "PATCH", SINGLE, {"metadata": {"ownerReferences": [OWNER]}}, "neither owners nor finalizers"
    ),
    "a pod that is said to have succeeded": Try("PATCH", SINGLE + "/status", DONE, "says nominatedNodeName"),
    "another's pod deleted": Try("DELETE", PODS.format("team") + "/foreign", None, OURS_ALONE),
    "the pod of an operator deleted": Try("DELETE", PODS.format("team") + "/made", None, OURS_ALONE),
    "a pod for which room is held deleted": Try("DELETE", HELD_POD, None, OURS_ALONE),
    "all pods of a tenant deleted": Try("DELETE", PODS.format("team"), None, "cannot deletecollection"),
}


async def prepared(owner: Api, fairway: KubernetesCluster) -> None:
    """One that Fairway applied, and one with all its marks that somebody else controls."""
    uid = (owner.get(f"{CONFIG_MAPS.format('team')}/own") or {})["metadata"]["uid"]
    controller = {"apiVersion": "v1", "kind": "ConfigMap", "name": "own", "uid": uid, "controller": True}
    owner.create(PODS.format("team"), single("made", ownerReferences=[controller]))
    await fairway.apply("Pod.v1", single("single"))


async def runs_a_pod(owner: Api, fairway: KubernetesCluster) -> None:
    """Applied, given back its labels, let go, and removed."""
    labels = {"fairway.io/job": "p2", "fairway.io/attempt": "1"}
    assert (await fairway.apply("Pod.v1", single("own", labels=labels))).uid
    owner.patch(PODS.format("team") + "/own", {"metadata": {"labels": {"fairway.io/job": None}}})
    assert await fairway.patch("Pod.v1", "team", "own", {"metadata": {"labels": labels}}) is not None
    assert await fairway.patch("Pod.v1", "team", "own", {"spec": {"schedulingGates": None}}) is not None
    assert await fairway.delete("Pod.v1", "team", "own", labels, wait_s=10)


async def runs_a_gang(owner: Api, fairway: KubernetesCluster) -> None:
    """Its pods wait until all are there, and the garbage collector takes those that the leader owns."""
    labels = {"fairway.io/job": "p3", "fairway.io/attempt": "1"}
    pods = [single(name, labels=labels) for name in ("leader", "wing")]
    done = await apply_gang(fairway, pods, partial(fairway.apply, "Pod.v1"))
    wing = owner.get(PODS.format("team") + "/wing") or {}
    assert [one["uid"] for one in wing["metadata"]["ownerReferences"]] == [done.uid]
    assert wing["spec"]["schedulingGates"] == [{"name": "fairway.io/room"}], "the gate of gangs is gone, and no other"
    assert (await apply_gang(fairway, pods, partial(fairway.apply, "Pod.v1"))).adopted
    assert await fairway.delete("Pod.v1", "team", "leader", labels, wait_s=20)
    assert owner.get(PODS.format("team") + "/wing") is None


def placeholder(container: Json | None = None, **spec: Any) -> Json:
    slots = (Slot(pods="w", node="node-1", count=1),)
    pods = (PodSet("w", 1, {"cpu": 1000}),)
    (made,) = manifests(Room(PLACEHOLDERS, "j1", 1, "team", slots, pods, ttl=60), PAUSE).values()
    made["spec"]["containers"][0] |= container or {}
    made["spec"] |= spec
    return made


BAD_PLACEHOLDERS: dict[str, Json] = {
    "with Fairway's own account": {"serviceAccountName": "fairway-member"},
    "with a token": {"automountServiceAccountToken": True},
    "with a command": {"container": {"command": ["sh"]}},
    "with something to read": {"container": {"env": [{"name": "a", "value": "b"}]}},
    "of another image": {"container": {"image": "miner"}},
    "of another version of the image": {"container": {"image": PAUSE.rpartition(":")[0]}},
    "that is privileged": {"container": {"securityContext": {"privileged": True}}},
    "in the node's network": {"hostNetwork": True},
    "with a volume": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
    "that never ends": {"activeDeadlineSeconds": None},
    "on a node of his choice": {"nodeName": "node-1"},
    "of a class of others": {"priorityClassName": ""},
}
