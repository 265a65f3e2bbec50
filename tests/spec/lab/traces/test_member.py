"""A member on a virtual clock keeps what is promised of any cluster: pods on nodes, an end, nobody else's object."""

import asyncio
from typing import Any

import pytest

from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.simulation.virtual_time import run_virtual
from fairway.lab.traces.virtual.member import TraceMember
from fairway.runtime.cluster_port import Change, ClusterRefused
from fairway.wire.capacity import Slot
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL

KIND = "PyTorchJob.kubeflow.org/v1"
Json = dict[str, Any]


def applied(run_for: str = "10s", attempt: int = 1, job: str = "j") -> Json:
    labels = {JOB_LABEL: job, ATTEMPT_LABEL: str(attempt)}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "pytorch"}]}}
    meta = {"name": "train", "namespace": "a", "labels": labels, "annotations": {"fairway.test/run-for": run_for}}
    workers = {"replicas": 3, "template": template}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": meta,
        "spec": {"pytorchReplicaSpecs": {"Worker": workers}},
    }


class MemberHouse:
    """A member of two nodes, and what its watches told, with the second in which they did."""

    def __init__(self) -> None:
        (config,) = equal_clusters(1, nodes=2, gpus=8)
        plan = (Slot("Worker", "c0-node-0", 2), Slot("Worker", "c0-node-1", 1))
        self.member = TraceMember(config, lambda job, attempt: plan)
        self.told: list[tuple[int, str, Change]] = []

    async def follow(self, *kinds: str) -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(self._follow(kind)) for kind in kinds]
        await asyncio.sleep(0)
        return tasks

    async def _follow(self, kind: str) -> None:
        async for change in self.member.watch(kind):
            self.told.append((round(asyncio.get_running_loop().time()), kind, change))

    def shown(self, kind: str) -> list[tuple[int, str, str, bool]]:
        """Second, name, what it shows, whether it is gone."""
        return [
            (second, change.name, _state(change.manifest), change.gone)
            for second, found, change in self.told
            if found == kind and not change.synced
        ]


def _state(manifest: Json) -> str:
    status = manifest.get("status", {})
    conditions = status.get("conditions", ())
    return str(status.get("phase") or (conditions[-1]["type"] if conditions else ""))


def test_pods_are_where_the_plan_has_them_and_all_is_gone_when_the_time_is_over() -> None:
    async def story() -> MemberHouse:
        house = MemberHouse()
        await house.follow("Pod.v1", KIND)
        await house.member.apply(KIND, applied())
        await asyncio.sleep(20)
        return house

    house = run_virtual(story())
    shows = [(0, "Running", False), (10, "Succeeded", False), (10, "Succeeded", True)]
    assert house.shown(KIND) == [(second, "train", state, gone) for second, state, gone in shows]
    pods = [f"train-{index}" for index in range(3)]
    assert house.shown("Pod.v1") == [
        *((0, name, "Running", False) for name in pods),
        *((10, name, "Running", True) for name in pods),
    ]
    order = [(kind, change.gone) for second, kind, change in house.told if second == 10]
    assert order == [("Pod.v1", True)] * 3 + [(KIND, False), (KIND, True)], "its room is free before it says its end"
    nodes = [change.manifest["spec"]["nodeName"] for _, kind, change in house.told if kind == "Pod.v1" and change.name]
    assert nodes[:3] == ["c0-node-0", "c0-node-0", "c0-node-1"]


def test_a_watch_begins_with_what_is_there() -> None:
    async def story() -> MemberHouse:
        house = MemberHouse()
        await house.member.apply(KIND, applied())
        await house.follow("Pod.v1", "Node.v1", KIND)
        await asyncio.sleep(1)
        return house

    told = run_virtual(story()).told
    for kind, count in (("Pod.v1", 3), ("Node.v1", 2), (KIND, 1)):
        changes = [change for _, found, change in told if found == kind]
        assert [one.synced for one in changes].index(True) == count


def test_the_same_attempt_is_adopted_and_another_job_or_attempt_refused() -> None:
    async def story() -> tuple[bool, list[str]]:
        member = MemberHouse().member
        await member.apply(KIND, applied())
        again = await member.apply(KIND, applied())
        codes = []
        for other in (applied(attempt=2), applied(job="other")):
            with pytest.raises(ClusterRefused) as refused:
                await member.apply(KIND, other)
            codes.append(refused.value.code)
        return again.adopted, codes

    assert run_virtual(story()) == (True, ["StaleObject", "NameConflict"])


def test_a_deletion_takes_only_what_carries_the_labels_and_its_end_does_not_come() -> None:
    async def story() -> tuple[list[bool], list[tuple[int, str, str, bool]]]:
        house = MemberHouse()
        await house.follow(KIND)
        await house.member.apply(KIND, applied())
        await asyncio.sleep(5)
        there = []
        for labels in ({JOB_LABEL: "other"}, {JOB_LABEL: "j", ATTEMPT_LABEL: "1"}):
            await house.member.delete(KIND, "a", "train", labels, 5.0)
            there.append(await house.member.get(KIND, "a", "train") is not None)
        await asyncio.sleep(20)
        return there, house.shown(KIND)

    there, shown = run_virtual(story())
    assert there == [True, False]
    assert shown == [(0, "train", "Running", False), (5, "train", "Running", True)]


def test_what_no_trace_needs_is_refused() -> None:
    async def story() -> str:
        with pytest.raises(ClusterRefused) as refused:
            await MemberHouse().member.create("ConfigMap.v1", {})
        return refused.value.code

    assert run_virtual(story()) == "MethodNotAllowed"
