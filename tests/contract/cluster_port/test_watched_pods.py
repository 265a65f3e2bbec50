"""Which pods a watch tells: in a member those that are jobs whole, and on the hub those that have no node."""

from contextlib import aclosing

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.system_clock import SystemClock
from fairway.lab.kubesim import KubeSim
from fairway.process.members.enrolment import hub_options, member_options
from fairway.process.settings import Settings
from fairway.workloads.kinds.single_pod import POD as KIND
from fairway.workloads.member_copy import selector_of
from tests.support.simulated import NODES, OURS, POD, Json, names, synced, until

SEALED = {"annotations": {"fairway.io/seal": "v1"}}


def pod(name: str, labels: Json, gated: bool = True) -> Json:
    gates = {"schedulingGates": [{"name": "fairway.io/fleet"}]} if gated else {}
    meta = {"name": name, "namespace": "team", "labels": labels, **SEALED}
    return {"metadata": meta, "spec": {"containers": [{"name": "main", "image": "x"}], **gates}}


async def test_in_a_member_pods_that_are_jobs_are_told_whole_and_others_as_far_as_an_agent_reads() -> None:
    sim = KubeSim(SystemClock())
    await sim.start_cluster("m1", nodes=[NODES])
    options = member_options(Settings(), loopback=True)
    cluster = await KubernetesCluster.from_kubeconfig("m1", sim.kubeconfig("m1"), options)
    for name, labels in (("alone", {**OURS, "fairway.io/alone": "true"}), ("of-a-job", OURS)):
        await cluster.create(POD, pod(name, labels))
    for selector, want in ((selector_of(KIND), {"alone": True}), ("", {"alone": False, "of-a-job": False})):
        async with aclosing(cluster.watch(POD, selector)) as changes:
            told = [one for one in await until(changes, synced) if not one.synced]
        assert {one.name: "annotations" in one.manifest["metadata"] for one in told} == want
    await cluster.close()
    await sim.stop()


async def test_on_the_hub_only_pods_without_a_node_are_told() -> None:
    sim = KubeSim(SystemClock())
    await sim.start_cluster("hub", nodes=[NODES])
    hub = await KubernetesCluster.from_kubeconfig("hub", sim.kubeconfig("hub"), hub_options(Settings()))
    async with aclosing(hub.watch(POD)) as changes:
        await until(changes, synced)
        await hub.create(POD, pod("taken", {}))
        await hub.create(POD, pod("ours", {}))
        await until(changes, lambda one: one.name == "ours")
        # Nobody has to let it go for its gate to be gone: the hub's scheduler binds it.
        await hub.patch(POD, "team", "taken", {"spec": {"schedulingGates": None}})
        assert names(await until(changes, lambda one: one.gone))[-1] == "-taken"
    async with aclosing(hub.watch(POD)) as changes:
        assert names(await until(changes, synced)) == ["+ours"]
    await hub.close()
    await sim.stop()
