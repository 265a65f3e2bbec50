"""Jobs in a simulated member cluster, broken on demand: they fail, never start, lose their node or a pod."""

import pytest

from fairway.lab.kubesim.api.store import Key
from tests.contract.kubesim.members.test_members import conditions
from tests.support.kubesim import pods, simulated, submit, torch, true_conditions, until


@pytest.mark.parametrize(
    ("cluster_name", "want"),
    [pytest.param("bad", "Failed", id="there"), pytest.param("good", "Succeeded", id="not elsewhere")],
)
async def test_a_job_fails_in_the_clusters_it_is_told_to(cluster_name: str, want: str) -> None:
    async with simulated(cluster_name, nodes=2) as cluster:
        key = submit(cluster, torch(run_for="5ms", fail_in_cluster="worse, bad", reason="Xid79"))
        found = await until(cluster, key, lambda obj: bool(true_conditions(obj) & {"Failed", "Succeeded"}))
        assert want in true_conditions(found)
        if want == "Failed":
            assert found["status"]["conditions"][-1]["message"].endswith("failed: Xid79.")


async def test_pods_that_never_start_stay_pending_on_their_node() -> None:
    async with simulated("bad", nodes=1) as cluster:
        submit(cluster, torch(never_start_in_cluster="bad"))
        await until(cluster, Key("pods", "team-a", "a-master-0"), lambda pod: "nodeName" in pod.get("spec", {}))
        assert set(pods(cluster).values()) == {"Pending"}


async def test_a_lost_node_takes_its_pods_and_is_avoided_until_it_is_back() -> None:
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, torch(run_for="never"))
        await until(cluster, key, conditions("Running"))
        cluster.control.lose_node("gpu-0")
        found = await until(cluster, key, conditions("Failed"))
        assert "NodeLost" in found["status"]["conditions"][-1]["message"]
        second = submit(cluster, torch("b", run_for="5ms"))
        await until(cluster, Key("pods", "team-a", "b-master-0"), lambda pod: "conditions" in pod.get("status", {}))
        assert pods(cluster)["b-master-0"] == "Pending"
        cluster.control.return_node("gpu-0")
        await until(cluster, second, conditions("Succeeded"))


async def test_a_job_is_failed_and_a_pod_evicted_on_demand() -> None:
    async with simulated(nodes=1) as cluster:
        first = submit(cluster, torch("a", run_for="never"))
        second = submit(cluster, torch("b", run_for="never"))
        for key in (first, second):
            await until(cluster, key, conditions("Running"))
        assert cluster.control.fail_job("team-a", "a", reason="Boom", code=3) == 2
        assert "Boom" in (await until(cluster, first, conditions("Failed")))["status"]["conditions"][-1]["message"]
        cluster.control.evict_pod("team-a", "b-worker-0")
        assert "Evicted" in (await until(cluster, second, conditions("Failed")))["status"]["conditions"][-1]["message"]
