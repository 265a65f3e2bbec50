"""A member with Koordinator joins: its pods on batch resources are converted by Koordinator's own webhook, and give way
to all others; what somebody made there before is kept, or named."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fairway.adapters.kubernetes.admin import Admin
from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.kubernetes.kubeconfig import read
from fairway.agent.batch_profile import converts
from fairway.client.failure import Failure
from fairway.join import join
from fairway.join.batch_resources.member import clear
from fairway.join.secret import read_secret
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import Planes, Spec, member
from fairway.runtime.views.members import Facts
from fairway.watcher.edits import edits
from fairway.workloads.member_copy import BATCH_LABELS
from tests.kubernetes.rights.thefts import HOME, OURS, PODS, SEAL, job
from tests.kubernetes.support.fleet import Api, until
from tests.kubernetes.support.koord import only_its_webhook

Json = dict[str, Any]
CLASSES = "scheduling.k8s.io/v1/priorityclasses"
CLASS = f"{CLASSES}/fairway-batch"
PROFILES = "config.koordinator.sh/v1alpha1/clustercolocationprofiles"
PROFILE = f"{PROFILES}/fairway-batch"
SELECTOR = {"matchLabels": {"fairway.io/batch-resources": "true"}}
ONE = {"cpu": "1", "memory": "1Gi"}


class Fleet:
    def __init__(self, planes: Planes, folder: Path) -> None:
        self.plane = planes["north"]
        self._folder = folder
        self._planes = planes
        self.hub, self.north = (Api(name, planes[name].kubeconfig) for name in ("hub", "north"))

    async def join(self, **more: Any) -> list[str]:
        """What it says."""
        said: list[str] = []
        configs = [read(self._planes[name].kubeconfig) for name in ("north", "hub")]
        await join.join(join.JoinRequest("north", *configs, Facts(), loopback=True, **more), said.append)
        return said

    async def refused(self, cause: str, **more: Any) -> None:
        """Nothing is changed by then."""
        before = self.secret()
        with pytest.raises(Failure, match=cause):
            await self.join(**more)
        assert self.secret() == before

    def secret(self) -> Json:
        return self.hub.get(f"v1/namespaces/{HOME}/secrets/fairway-cluster-north") or {}

    def batch_class(self) -> str:
        return read_secret(self.secret()).facts.batch_class

    async def account(self) -> KubernetesCluster:
        path = f"v1/namespaces/{HOME}/serviceaccounts/fairway-member/token"
        token = self.north.create(path, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
        config = self._folder / "account"
        config.write_text(json.dumps(self.plane.kubeconfig_of(token)))
        return await KubernetesCluster.from_kubeconfig("north", config)

    def may(self, verb: str, group: str, resource: str) -> bool:
        what = {"verb": verb, "group": group, "resource": resource, "name": "fairway-batch"}
        spec = {"user": f"system:serviceaccount:{HOME}:fairway-member", "resourceAttributes": what}
        asked = self.north.create("authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
        return bool(asked["status"]["allowed"])


@pytest_asyncio.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    planes = Planes(tmp_path, tools(("kube", "kwok", "koordinator")))
    await planes.start([Spec("hub"), member("north")])
    made = Fleet(planes, tmp_path)
    try:
        yield made
    finally:
        for api in (made.hub, made.north):
            api.http.close()
        await planes.stop()


async def nothing_is_made_without_koordinator(fleet: Fleet) -> None:
    said = await fleet.join()
    assert [line for line in said if "ClusterColocationProfile" in line] == [
        "left out: north does not serve ClusterColocationProfile.config.koordinator.sh, "
        "so nothing is set up there for jobs on batch resources"
    ]
    assert (fleet.north.get(CLASS), fleet.batch_class()) == (None, "")


async def both_are_made_when_it_is_there(fleet: Fleet) -> None:
    said = await fleet.join(renew=True)
    assert "pods on batch resources get PriorityClass fairway-batch by ClusterColocationProfile fairway-batch" in said
    made = fleet.north.get(CLASS) or {}
    assert (made["value"], made["preemptionPolicy"], made.get("globalDefault", False)) == (-1000, "Never", False)
    assert (fleet.north.get(PROFILE) or {})["spec"] == {
        "selector": SELECTOR,
        "qosClass": "BE",
        "priorityClassName": "fairway-batch",
        "labels": {"koordinator.sh/priority-class": "koord-batch"},
    }
    assert fleet.batch_class() == "fairway-batch"
    for verb in ("update", "patch", "delete", "deletecollection"):
        assert not fleet.may(verb, "scheduling.k8s.io", "priorityclasses")
        assert not fleet.may(verb, "config.koordinator.sh", "clustercolocationprofiles")


async def pods_of_copies_are_converted_there(fleet: Fleet) -> None:
    """By the webhook, which changes what Fairway applied; its account's policies let it."""
    account = await fleet.account()
    try:
        assert await converts(account), "its agent may see that they are"
        await account.apply("Job.batch/v1", batch_job())
        until(lambda: fleet.north.get("v1/namespaces/team/serviceaccounts/default"), "pods can be made in team")
        await account.apply("Pod.v1", single())
        applied = fleet.north.get(f"{PODS.format('team')}/single") or {}
        assert (edits(single(), applied, lost=True), converted(applied)) == ((), CONVERTED)
        await account.patch("Pod.v1", "team", "single", {"spec": {"schedulingGates": []}})
        assert "schedulingGates" not in (fleet.north.get(f"{PODS.format('team')}/single") or {})["spec"]
    finally:
        await account.close()
    found: list[Json] = until(lambda: fleet.north.pods("team", "job-name=train"), "the Job has a pod")
    assert converted(found[0]) == CONVERTED
    fleet.north.create(PODS.format("team"), {"metadata": {"name": "online"}, "spec": containers()})
    assert converted(fleet.north.get(f"{PODS.format('team')}/online") or {}) == (ONE, ONE, None, 0, None)


CONVERTED = (
    {"kubernetes.io/batch-cpu": "1k", "kubernetes.io/batch-memory": "1Gi"},
    {"kubernetes.io/batch-cpu": "1k", "kubernetes.io/batch-memory": "1Gi"},
    "fairway-batch",
    -1000,
    "Never",
)


def converted(pod: Json) -> tuple[Any, ...]:
    spec = pod["spec"]
    resources = spec["containers"][0]["resources"]
    policy = spec.get("preemptionPolicy") if spec["priority"] else None
    return resources["requests"], resources["limits"], spec.get("priorityClassName"), spec["priority"], policy


def containers() -> Json:
    return {
        "restartPolicy": "Never",
        "containers": [{"name": "c", "image": "x", "resources": {"requests": ONE, "limits": ONE}}],
    }


def batch_job() -> Json:
    made = job("team")
    made["spec"] = {"suspend": False, "template": {"metadata": {"labels": BATCH_LABELS}, "spec": containers()}}
    return made


def single() -> Json:
    named = {"name": "single", "namespace": "team", "labels": {**OURS, **BATCH_LABELS}, "annotations": SEAL}
    return {"metadata": named, "spec": {**containers(), "schedulingGates": [{"name": "fairway.io/room"}]}}


async def what_somebody_changed_in_them_is_mended(fleet: Fleet) -> None:
    made = fleet.north.get(CLASS) or {}
    fleet.north.delete(CLASS)
    labels = {"metadata": {"name": "fairway-batch", "labels": made["metadata"]["labels"]}}
    fleet.north.create(CLASSES, {**labels, "value": 7, "preemptionPolicy": "PreemptLowerPriority"})
    fleet.north.patch(PROFILE, {"spec": {"probability": 0, "qosClass": "LS"}})
    await both_are_made_when_it_is_there(fleet)


async def what_does_harm_is_refused_by_name(fleet: Fleet) -> None:
    for path in (CLASS, PROFILE):
        fleet.north.delete(path)
    theirs = {"metadata": {"name": "fairway-batch"}, "value": 100, "preemptionPolicy": "Never"}
    fleet.north.create(CLASSES, theirs)
    await fleet.refused("PriorityClass fairway-batch of north .* its value 100 .* delete it", renew=True)
    assert fleet.north.get(PROFILE) is None
    fleet.north.delete(CLASS)
    fleet.north.create(CLASSES, {**theirs, "value": -5})
    spec = {"qosClass": "BE", "priorityClassName": "fairway-batch"}
    fleet.north.create(PROFILES, profile(spec))
    await fleet.refused("ClusterColocationProfile fairway-batch of north .* selects other pods", renew=True)


def profile(spec: Json) -> Json:
    head = {"apiVersion": "config.koordinator.sh/v1alpha1", "kind": "ClusterColocationProfile"}
    return {**head, "metadata": {"name": "fairway-batch"}, "spec": spec}


async def what_says_what_is_needed_is_kept(fleet: Fleet) -> None:
    fleet.north.patch(PROFILE, {"spec": {"selector": SELECTOR, "schedulerName": "koord-scheduler"}})
    before = [fleet.north.get(path) for path in (CLASS, PROFILE)]
    said = await fleet.join()
    for name in ("PriorityClass", "ClusterColocationProfile"):
        assert f"{name} fairway-batch was there, says what is needed, and is kept" in said
    assert [fleet.north.get(path) for path in (CLASS, PROFILE)] == before


async def another_class_may_be_named(fleet: Fleet) -> None:
    """As Koordinator's own are made, they preempt."""
    await fleet.refused("PriorityClass koord-batch is not in north", batch_class="koord-batch")
    fleet.north.create(CLASSES, {"metadata": {"name": "koord-batch"}, "value": 5000})
    await fleet.refused("PriorityClass koord-batch of north .* may drive out others", batch_class="koord-batch")
    fleet.north.create(CLASSES, {"metadata": {"name": "idle"}, "value": 5500, "preemptionPolicy": "Never"})
    await fleet.refused("fairway-batch of north .* its priorityClassName is not idle", batch_class="idle")
    fleet.north.delete(PROFILE)
    assert "PriorityClass idle was there, says what is needed, and is kept" in await fleet.join(batch_class="idle")
    assert (fleet.north.get(PROFILE) or {})["spec"]["priorityClassName"] == "idle"
    await fleet.join(renew=True)
    assert fleet.batch_class() == "idle"


async def what_a_join_made_goes_and_what_others_made_stays(fleet: Fleet) -> None:
    said: list[str] = []
    async with Admin.open("north", read(fleet.plane.kubeconfig), loopback=True) as admin:
        await clear(admin, said.append)
    assert said == ["PriorityClass fairway-batch stays: no join made it"]
    assert fleet.north.get(PROFILE) is None
    assert (fleet.north.get(CLASS) or {})["value"] == -5


async def test_a_member_is_set_up_for_batch_resources_step_by_step(fleet: Fleet) -> None:
    """Each step begins where the one before it ended."""
    await nothing_is_made_without_koordinator(fleet)
    await only_its_webhook(fleet.plane, tools())
    await both_are_made_when_it_is_there(fleet)
    await pods_of_copies_are_converted_there(fleet)
    await what_somebody_changed_in_them_is_mended(fleet)
    await what_does_harm_is_refused_by_name(fleet)
    await what_says_what_is_needed_is_kept(fleet)
    await another_class_may_be_named(fleet)
    await what_a_join_made_goes_and_what_others_made_stays(fleet)
