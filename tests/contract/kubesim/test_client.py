"""kubernetes-asyncio, the client Fairway uses, works against a simulated cluster."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from kubernetes_asyncio import client, config, watch

from fairway.lab.kubesim import KubeSim, NodeGroup
from tests.support.kubesim import GPU_NODE, PATIENCE, FixedClock, torch, true_conditions

TORCH = ("kubeflow.org", "v1", "team-a", "pytorchjobs")


@contextlib.asynccontextmanager
async def connected() -> AsyncIterator[client.ApiClient]:
    sim = KubeSim(FixedClock())
    await sim.start_cluster("one", nodes=[NodeGroup(2, "gpu", GPU_NODE)])
    settings = client.Configuration()
    await config.load_kube_config_from_dict(sim.kubeconfig("one"), client_configuration=settings)
    try:
        async with client.ApiClient(settings) as api:
            yield api
    finally:
        await sim.stop()


async def test_a_job_is_created_watched_read_and_deleted() -> None:
    async with connected() as api:
        jobs = client.CustomObjectsApi(api)
        core = client.CoreV1Api(api)
        made = await jobs.create_namespaced_custom_object(*TORCH, torch(run_for="5ms"))
        version = made["metadata"]["resourceVersion"]

        async def finished() -> None:
            async with watch.Watch().stream(
                jobs.list_namespaced_custom_object, *TORCH, resource_version=version
            ) as events:
                async for event in events:
                    if "Succeeded" in true_conditions(event["object"]):
                        return

        await asyncio.wait_for(finished(), PATIENCE)
        found = await core.list_namespaced_pod("team-a", label_selector="training.kubeflow.org/job-name=a")
        assert [(pod.metadata.name, pod.status.phase) for pod in found.items] == [
            ("a-master-0", "Succeeded"),
            ("a-worker-0", "Succeeded"),
        ]
        await jobs.delete_namespaced_custom_object(*TORCH, "a", propagation_policy="Foreground")
        assert (await core.list_namespaced_pod("team-a")).items == []
        with pytest.raises(client.ApiException) as refused:
            await jobs.get_namespaced_custom_object(*TORCH, "a")
        assert refused.value.status == 404


async def test_nodes_and_batch_jobs_read_as_typed_objects() -> None:
    async with connected() as api:
        nodes = (await client.CoreV1Api(api).list_node()).items
        assert [node.status.allocatable["nvidia.com/gpu"] for node in nodes] == ["8", "8"]
        batch = client.BatchV1Api(api)
        container = client.V1Container(name="c", image="x")
        spec = client.V1PodSpec(containers=[container], restart_policy="Never")
        template = client.V1PodTemplateSpec(spec=spec)
        body = client.V1Job(
            metadata=client.V1ObjectMeta(name="j"), spec=client.V1JobSpec(template=template, suspend=True)
        )
        made = await batch.create_namespaced_job("team-a", body)
        assert made.metadata.generation == 1
        assert made.spec.suspend is True
