"""Jobs of which others are made, in a simulated member cluster: a JobSet of what a TrainJob and its runtime say, and
the components of an AppWrapper, which are tried anew together."""

import asyncio

from fairway.lab.kubesim import SimCluster
from tests.support.kubesim import Json, pods, simulated, single_pod, submit, template, true_conditions, until

LABEL = "workload.codeflare.dev/appwrapper"
STEP = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
NODE = {"name": "node", "template": {"metadata": {"labels": STEP}, "spec": {"template": template(run_for="5ms")}}}


def made(kind: str, spec: Json) -> Json:
    metadata = {"name": "j", "namespace": "team-a"}
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


async def test_it_runs_what_its_runtime_says_with_as_many_nodes_as_it_asks_for() -> None:
    runtime = {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [NODE]}}}
    ref = {"kind": "TrainingRuntime", "name": "j"}
    async with simulated(nodes=2) as cluster:
        submit(cluster, made("TrainingRuntime", runtime))
        key = submit(cluster, made("TrainJob", {"runtimeRef": ref, "trainer": {"numNodes": 2}}))
        await until(cluster, key, lambda one: "Complete" in true_conditions(one))
        await asyncio.sleep(0)
        assert list(pods(cluster).values()) == ["Succeeded"] * 2


def wrapper(*templates: Json, retries: int = 0) -> Json:
    notes = {"workload.codeflare.dev.appwrapper/retryLimit": str(retries)}
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": "w", "namespace": "team-a", "annotations": notes},
        "spec": {"components": [{"template": one} for one in templates]},
    }


def named(name: str, **behaviour: str) -> Json:
    made = single_pod(**behaviour)
    return {**made, "metadata": {**made["metadata"], "name": name}}


def phase(one: Json) -> str:
    return str((one.get("status") or {}).get("phase"))


def labels(cluster: SimCluster) -> dict[str, str]:
    return {one.key.name: one.obj["metadata"]["labels"][LABEL] for one in cluster.api.store.shelf("pods")}


async def test_a_component_that_fails_has_all_of_them_made_anew_as_often_as_it_may() -> None:
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, wrapper(named("a", run_for="5ms", exit_code="1"), named("b", run_for="1h"), retries=2))
        ended = await until(cluster, key, lambda one: phase(one) == "Failed")
        assert ended["status"]["resettingCount"] == 2
        assert {one["type"]: one["reason"] for one in ended["status"]["conditions"]}["Unhealthy"] == "FailedComponent"
        await until(cluster, key, lambda one: not pods(cluster))


async def test_its_pods_are_ready_when_every_component_is_up_and_carry_its_label() -> None:
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, wrapper(named("a", run_for="1h"), named("b", run_for="1h")))
        ready = {"type": "PodsReady", "status": "True"}
        await until(
            cluster,
            key,
            lambda one: any(ready.items() <= each.items() for each in (one.get("status") or {}).get("conditions", ())),
        )
        assert labels(cluster) == {"a": "w", "b": "w"}


async def test_it_has_succeeded_when_every_component_has() -> None:
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, wrapper(named("a", run_for="5ms"), named("b", run_for="10ms")))
        await until(cluster, key, lambda one: phase(one) == "Succeeded")
        assert pods(cluster) == {"a": "Succeeded", "b": "Succeeded"}


async def test_a_suspended_one_makes_nothing() -> None:
    what = wrapper(named("a"))
    what["spec"]["suspend"] = True
    async with simulated(nodes=1) as cluster:
        await until(cluster, submit(cluster, what), lambda one: phase(one) == "Suspended")
        assert pods(cluster) == {}
