"""Pods on batch resources that no operator made: what Koordinator's own webhook writes is what is charged for them."""

from typing import Any

import pytest

from fairway.domain.batch_resources import BATCH_CPU, BATCH_MEMORY
from fairway.workloads.kinds.registry import read_unchecked
from tests.kubernetes.idle.member import NAMESPACE, ROOM, Idle, asked, one_container

Json = dict[str, Any]
GIB = 2**30
BOTH = {"cpu": "1500m", "memory": "2Gi"}


def with_inits(*inits: Json) -> Json:
    named = [{"name": f"init-{number}", "image": "x", **one} for number, one in enumerate(inits)]
    return {**one_container(requests=BOTH), "initContainers": named}


PODS: dict[str, Json] = {
    "requests": one_container(requests=BOTH),
    "requests below limits": one_container(requests=BOTH, limits={"cpu": "3", "memory": "4Gi"}),
    "limits without requests": one_container(limits={"cpu": "250m", "memory": "1G"}),
    "a limit of one and a request of the other": one_container(requests={"cpu": "2"}, limits={"memory": "512Mi"}),
    "cpu alone": one_container(requests={"cpu": "0.3"}),
    "memory alone": one_container(requests={"memory": "300M"}),
    "less than a millicore": one_container(requests={"cpu": "1500u", "memory": "1Mi"}),
    "bytes in other notations": one_container(requests={"cpu": "2e0", "memory": "1e9"}),
    "resources of other names": one_container(
        requests={**BOTH, "ephemeral-storage": "1Gi"}, limits={"nvidia.com/gpu": "1", "ephemeral-storage": "1Gi"}
    ),
    "batch resources by their own names": one_container(
        requests={BATCH_CPU: "700", BATCH_MEMORY: "1Gi"}, limits={BATCH_CPU: "700", BATCH_MEMORY: "1Gi"}
    ),
    "an init container that asks for more": with_inits({"resources": {"requests": {"cpu": "8", "memory": "1Gi"}}}),
    "an init container with limits alone": with_inits({"resources": {"limits": {"cpu": "100m", "memory": "9Gi"}}}),
    "an init container that goes on": with_inits({"resources": {"requests": BOTH}, "restartPolicy": "Always"}),
    "nothing at all": one_container(),
}


def job(pod: Json) -> Json:
    """A job of one such pod."""
    metadata = {"name": "j", "namespace": NAMESPACE, "annotations": ROOM}
    spec = {"template": {"spec": {**pod, "restartPolicy": "Never"}}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def charged(pod: Json) -> dict[str, int]:
    (only,) = read_unchecked(job(pod)).pod_sets
    return only.requests


@pytest.mark.parametrize("shape", PODS)
def test_a_pod_asks_for_what_is_charged(idle: Idle, shape: str) -> None:
    pod = PODS[shape]
    stored = idle.pod(f"p{list(PODS).index(shape)}", pod)
    assert asked(stored) == charged(pod)


def test_a_pod_without_the_labels_keeps_what_it_asks_for(idle: Idle) -> None:
    stored = idle.pod("online", one_container(requests=BOTH), batch=False)
    assert asked(stored) == {"cpu": 1500, "memory": 2 * GIB}


@pytest.fixture(scope="module")
def runtime_classes(idle: Idle) -> dict[str, Json]:
    """By name: the overhead, as an administrator writes it of virtual machines."""
    found = {"plain": {"cpu": "250m", "memory": "64Mi"}, "batch": {BATCH_CPU: "250", BATCH_MEMORY: "64Mi"}}
    for name, fixed in found.items():
        body = {"metadata": {"name": name}, "handler": "kata", "overhead": {"podFixed": fixed}}
        idle.api.create("node.k8s.io/v1/runtimeclasses", body)
    return found


@pytest.mark.usefixtures("runtime_classes")
def test_a_pod_whose_overhead_is_cpu_and_memory_is_refused(idle: Idle) -> None:
    """The API server compares it with the class once more after the webhook has changed it."""
    with pytest.raises(AssertionError, match="Overhead doesn't match RuntimeClass's defined Overhead"):
        idle.pod("kata-plain", {**one_container(requests=BOTH), "runtimeClassName": "plain"})


def test_a_pod_whose_overhead_is_batch_resources_asks_for_them_too(
    idle: Idle, runtime_classes: dict[str, Json]
) -> None:
    pod = one_container(requests=BOTH)
    stored = idle.pod("kata-batch", {**pod, "runtimeClassName": "batch"})
    assert stored["spec"]["overhead"] == runtime_classes["batch"]
    assert asked(stored) == charged({**pod, "overhead": runtime_classes["plain"]})
    assert asked(stored) == {BATCH_CPU: 1750, BATCH_MEMORY: 2 * GIB + 64 * 2**20}


def test_pod_level_resources_stay_cpu_and_memory(idle: Idle) -> None:
    """Koordinator 1.6 does not know them: such a pod asks for both, which nobody charges."""
    whole = {"resources": {"requests": {"cpu": "3", "memory": "4Gi"}}}
    pod = {**one_container(requests=BOTH), **whole}
    stored = idle.pod("whole", pod)
    assert stored["spec"]["resources"] == whole["resources"]
    assert asked(stored) == {BATCH_CPU: 1500, BATCH_MEMORY: 2 * GIB}
    assert charged(pod) == {BATCH_CPU: 3000, BATCH_MEMORY: 4 * GIB}
