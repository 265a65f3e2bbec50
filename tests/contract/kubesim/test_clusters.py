"""Failures on demand over HTTP, under /sim/ of each cluster's port, and by annotations of running pods."""

from typing import Any

import aiohttp
import pytest

from fairway.lab.kubesim import SimCluster
from fairway.lab.kubesim.api.store import Key
from tests.support.kubesim import GPU_NODE, Json, remove, simulated, single_pod, submit, torch, true_conditions, until


async def post(cluster: SimCluster, what: str, **body: Any) -> tuple[int, Json]:
    url = f"{cluster.url}/sim/{what}"
    async with aiohttp.ClientSession() as client, client.post(url, json=body) as response:
        return response.status, await response.json()


def running(obj: Json) -> bool:
    return "Running" in true_conditions(obj)


def failed(obj: Json) -> bool:
    return "Failed" in true_conditions(obj)


@pytest.mark.parametrize(
    ("what", "body"),
    [
        pytest.param("fail-job", {"namespace": "team-a", "name": "a", "reason": "Boom", "code": 2}, id="fail a job"),
        pytest.param("evict-pod", {"namespace": "team-a", "name": "a-worker-0"}, id="evict a pod"),
        pytest.param("lose-node", {"name": "gpu-0"}, id="lose a node"),
        pytest.param("remove-node", {"name": "gpu-0"}, id="remove a node"),
    ],
)
async def test_a_running_job_is_broken(what: str, body: Json) -> None:
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, torch(run_for="never"))
        await until(cluster, key, running)
        status, _ = await post(cluster, what, **body)
        assert status == 200
        await until(cluster, key, failed)


@pytest.mark.parametrize("deleted_first", [True, False])
async def test_a_pod_that_takes_its_time_to_stop_is_gone_when_it_has_ended(deleted_first: bool) -> None:
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, single_pod(run_for="never", stop_after="1h"))
        await until(cluster, key, lambda obj: obj["status"].get("phase") == "Running")
        if deleted_first:
            remove(cluster, key)
        assert cluster.api.store.get(key) is not None
        status, _ = await post(cluster, "evict-pod", namespace="team-a", name=key.name)
        assert status == 200
        if not deleted_first:
            remove(cluster, key)
        await until(cluster, key, lambda obj: not obj)


async def test_nodes_are_added_and_work_waiting_for_them_starts() -> None:
    async with simulated() as cluster:
        key = submit(cluster, torch(run_for="never"))
        status, answer = await post(cluster, "add-nodes", count=2, prefix="new", allocatable=GPU_NODE)
        assert (status, answer) == (200, {"nodes": ["new-0", "new-1"]})
        await until(cluster, key, running)


async def test_annotations_of_a_running_pod_count_at_once() -> None:
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, torch(run_for="never"))
        await until(cluster, key, running)
        pod = f"{cluster.url}/api/v1/namespaces/team-a/pods/a-worker-0"
        annotations = {"fairway.test/run-for": "0s", "fairway.test/exit-code": "7"}
        headers = {"Content-Type": "application/merge-patch+json"}
        body = {"metadata": {"annotations": annotations}}
        async with aiohttp.ClientSession() as client, client.patch(pod, json=body, headers=headers) as response:
            assert response.status == 200
        await until(cluster, key, failed)
        found = cluster.api.store.get(Key("pods", "team-a", "a-worker-0"))
        assert found
        assert found.obj["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 7


@pytest.mark.parametrize(
    ("what", "body", "code"),
    [
        pytest.param("explode", {}, 404, id="an unknown wish"),
        pytest.param("lose-node", {}, 422, id="a wish without its argument"),
        pytest.param("lose-node", {"name": "none"}, 404, id="a node that is not there"),
        pytest.param("refuse", {"mode": "rudely"}, 422, id="an unknown way to refuse"),
    ],
)
async def test_a_wish_that_cannot_be_granted_says_why(what: str, body: Json, code: int) -> None:
    async with simulated(nodes=1) as cluster:
        status, answer = await post(cluster, what, **body)
        assert (status, answer["status"]) == (code, "Failure")
