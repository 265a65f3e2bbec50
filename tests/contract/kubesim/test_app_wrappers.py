"""AppWrappers in a simulated member cluster: their components as they stand, tried anew together."""

from fairway.lab.kubesim import SimCluster
from tests.support.kubesim import Json, pods, simulated, single_pod, submit, until

LABEL = "workload.codeflare.dev/appwrapper"


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
