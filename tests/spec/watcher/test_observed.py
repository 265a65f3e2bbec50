"""Which objects of a member speak for a job: those that Fairway applied."""

from typing import Any

import pytest

from fairway.runtime.cluster_port import Change
from fairway.watcher.service import observed
from fairway.workloads.seal import Spot, sealed

LABELS = {"fairway.io/job": "speech-1", "fairway.io/attempt": "2"}
JOBSET = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "speech", "uid": "u", "controller": True}
TRAINJOB = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "name": "speech", "uid": "u"}
RAYJOB = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "speech", "uid": "u", "controller": True}
WRAPPER = {**RAYJOB, "apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper"}
CASES = {
    "an object that Fairway applied speaks for its attempt": ({"labels": LABELS}, ("speech-1", 2)),
    "a Job that JobSet made with the same labels does not": ({"labels": LABELS, "ownerReferences": [JOBSET]}, None),
    "nor does a JobSet that the trainer made of a TrainJob": (
        {"labels": LABELS, "ownerReferences": [{**TRAINJOB, "controller": True}]},
        None,
    ),
    "nor does a RayCluster that KubeRay made of a RayJob": ({"labels": LABELS, "ownerReferences": [RAYJOB]}, None),
    "nor does a Job that AppWrapper made of a component": ({"labels": LABELS, "ownerReferences": [WRAPPER]}, None),
    "an owner that controls nothing is no operator": (
        {"labels": LABELS, "ownerReferences": [{**JOBSET, "controller": False}]},
        ("speech-1", 2),
    ),
    "an object of somebody else is none of ours": ({"labels": {"app": "web"}}, None),
    "nor is one whose attempt is no number": ({"labels": {**LABELS, "fairway.io/attempt": "x"}}, None),
}

PODS = {
    "a pod that Fairway applied speaks for its attempt": ({"labels": LABELS}, ("speech-1", 2)),
    "a pod that a controller made for a job does not": ({"labels": LABELS, "ownerReferences": [JOBSET]}, None),
}


@pytest.mark.parametrize(("given", "want"), PODS.values(), ids=PODS.keys())
def test_observed_pods(given: dict[str, object], want: tuple[str, int] | None) -> None:
    seen = observed("north", Change("Pod.v1", "team", "speech", {"metadata": given}), b"a key")
    assert (None if seen is None else (seen.job, seen.attempt)) == want


def test_a_pod_without_the_label_by_which_it_is_followed_is_stripped() -> None:
    spot = Spot("north", "Pod.v1", "team", "speech")
    pod = {"metadata": {"name": "speech", "namespace": "team", "labels": LABELS}, "spec": {"containers": []}}
    told = sealed(b"a key", spot, ("speech-1", 2), pod)
    (bare, whole) = (
        observed("north", Change("Pod.v1", "team", "speech", one), b"a key") for one in (told, alone(told))
    )
    assert bare and whole
    assert (bare.whole, whole.whole) == (False, True)


def alone(pod: dict[str, Any]) -> dict[str, Any]:
    return {**pod, "metadata": {**pod["metadata"], "labels": {**LABELS, "fairway.io/alone": "true"}}}


@pytest.mark.parametrize(("given", "want"), CASES.values(), ids=CASES.keys())
def test_observed(given: dict[str, object], want: tuple[str, int] | None) -> None:
    seen = observed("north", Change("Job.batch/v1", "team", "speech-leader-0", {"metadata": given}), b"a key")

    assert (None if seen is None else (seen.job, seen.attempt)) == want
