"""TrainJobs in a simulated member cluster: a JobSet of what they and their runtime say."""

import asyncio

from tests.support.kubesim import Json, pods, simulated, submit, template, true_conditions, until

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
