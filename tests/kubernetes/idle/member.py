"""What the tests of idle resources ask of their member: jobs as Fairway copies them, pods, and what a pod asks for."""

import json
from typing import Any

from fairway.domain.batch_resources import batch_pod_sets
from fairway.domain.resources import parse_quantity
from fairway.lab.kubereal.control_plane import Plane
from fairway.wire.workload import Workload
from fairway.workloads.kinds.registry import read_unchecked
from fairway.workloads.member_copy import BATCH_LABEL, BATCH_LABELS, CLASS_LABEL, KOORD_BATCH, Terms, member_copy
from tests.kubernetes.support.fleet import KINDS, Api, in_namespace, until
from tests.kubernetes.support.own import Own

Json = dict[str, Any]
MEMBER = "idle"
NAMESPACE = "team-idle"
CLASS = "fairway-batch"
# Koordinator knows none of its classes by such a number, so that its label counts.
PRIORITY = -1000
ROOM = {"fairway.io/room": "batch"}
_ACCOUNT = "spark-operator-spark"
_MUTATING = "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/koordinator-mutating-webhook-configuration"


class Idle:
    """`plane` is its processes, `api` its administrator's hands."""

    def __init__(self, own: Own, plane: Plane, api: Api) -> None:
        self.own = own
        self.plane = plane
        self.api = api

    def submit(self, manifest: Json) -> Workload:
        """Applied as Fairway applies it for a job on batch resources; what is charged for it."""
        work = read_unchecked(manifest)
        copy = member_copy(manifest, manifest["metadata"]["name"], 1, terms=Terms(batch=batch_pod_sets(work)))
        self.api.create(in_namespace(KINDS[manifest["kind"]], NAMESPACE), copy)
        return work

    def pod(self, name: str, spec: Json, batch: bool = True) -> Json:
        """A pod as it is stored; AssertionError with the API server's words when it is refused."""
        metadata = {"name": name, "labels": dict(BATCH_LABELS) if batch else {}}
        return self.api.create(in_namespace(KINDS["Pod"], NAMESPACE), {"metadata": metadata, "spec": spec})

    def roles(self, job: str, count: int) -> dict[str, list[Json]]:
        """The pods of a SparkApplication by role, as soon as there are so many."""

        def all_there() -> list[Json]:
            found = self.api.pods(NAMESPACE, f"sparkoperator.k8s.io/app-name={job}")
            if len(found) >= count:
                return found
            said = ((self.api.job("SparkApplication", NAMESPACE, job) or {}).get("status") or {}).get(
                "applicationState"
            )
            assert not said or "FAIL" not in said["state"], f"{job}: {said}"
            return []

        pods = until(all_there, f"{count} pods of {job}", seconds=120)
        return {role: [one for one in pods if one["metadata"]["labels"]["spark-role"] == role] for role in ROLES}


ROLES = ("driver", "executor")


def profile(api: Api) -> None:
    """Returns when koord-manager heeds it."""
    spec = {
        "selector": {"matchLabels": {BATCH_LABEL: BATCH_LABELS[BATCH_LABEL]}},
        "qosClass": "BE",
        "priorityClassName": CLASS,
        "labels": {CLASS_LABEL: KOORD_BATCH},
    }
    api.create(
        "scheduling.k8s.io/v1/priorityclasses",
        {"metadata": {"name": CLASS}, "value": PRIORITY, "preemptionPolicy": "Never"},
    )
    kind = {"apiVersion": "config.koordinator.sh/v1alpha1", "kind": "ClusterColocationProfile"}
    path = "config.koordinator.sh/v1alpha1/clustercolocationprofiles"
    api.create(path, {**kind, "metadata": {"name": CLASS}, "spec": spec})
    api.create(f"v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": _ACCOUNT}})
    until(lambda: _converted(api), "pods are written by the profile")


def _converted(api: Api) -> bool:
    tried = {"metadata": {"name": "tried", "labels": dict(BATCH_LABELS)}, "spec": one_container(limits={"cpu": "1"})}
    answer = api.http.post(f"/api/v1/namespaces/{NAMESPACE}/pods", json=tried, params={"dryRun": "All"})
    return answer.is_success and "batch-cpu" in answer.text


def one_container(**resources: Json) -> Json:
    return {"containers": [{"name": "main", "image": "x", "resources": resources}]}


def called_again(api: Api, policy: str) -> None:
    """Koordinator's webhook is called once more where others changed the pod after it (IfNeeded), or not (Never). Its
    manager keeps what it was installed with in an annotation, and writes that back."""
    found = api.get(_MUTATING)
    assert found is not None
    hooks = [{**one, "reinvocationPolicy": policy} for one in found["webhooks"]]
    api.patch(_MUTATING, {"metadata": {"annotations": {"template": None}}, "webhooks": hooks})

    def kept() -> bool:
        now = api.get(_MUTATING) or {}
        noted = now["metadata"].get("annotations", {}).get("template", "[]")
        return all(one.get("reinvocationPolicy") == policy for one in (*json.loads(noted), *now["webhooks"])) and bool(
            json.loads(noted)
        )

    until(kept, f"koord-manager keeps {policy}")


def asked(pod: Json) -> dict[str, int]:
    """What the scheduler counts for a stored pod (component-helpers resource.PodRequests), but for pod-level resources:
    containers and sidecars together, or the largest moment of their start, and the overhead."""
    spec = pod["spec"]
    started: dict[str, int] = {}
    peak: dict[str, int] = {}
    for one in spec.get("initContainers") or ():
        own = _requests(one)
        moment = _sum(started, own)
        if one.get("restartPolicy") == "Always":
            started = moment
        peak = {name: max(peak.get(name, 0), moment.get(name, 0)) for name in {**peak, **moment}}
    running = _sum(started, *(_requests(one) for one in spec["containers"]))
    whole = {name: max(peak.get(name, 0), running.get(name, 0)) for name in {**peak, **running}}
    return _sum(whole, _amounts(spec.get("overhead") or {}))


def _requests(container: Json) -> dict[str, int]:
    return _amounts((container.get("resources") or {}).get("requests") or {})


def _amounts(given: Json) -> dict[str, int]:
    return {name: parse_quantity(name, amount) for name, amount in given.items()}


def _sum(*amounts: dict[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in amounts:
        for name, amount in one.items():
            found[name] = found.get(name, 0) + amount
    return found
