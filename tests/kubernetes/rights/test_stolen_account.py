"""What a thief can do with the token of Fairway's account in a member, as `fairway join` makes it: what Fairway does,
in namespaces of its tenants, and nothing else. Each try is what the account of before could do, or what RBAC cannot
refuse."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.join import rights
from fairway.lab.kubereal.admin import admin
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import Plane, Planes, member
from fairway.lab.kubereal.crds import define
from fairway.propagator.held_room import priority_class
from fairway.propagator.needed_objects import volcano_queue
from fairway.runtime.cluster_port import ClusterRefused
from fairway.runtime.views.members import Facts
from fairway.workloads.companions import sent
from fairway.workloads.companions.named import ACCOUNT, CLAIM, CONFIG_MAP, SECRET
from fairway.workloads.seal import Spot
from tests.kubernetes.rights.cluster_wide_thefts import CLUSTER_WIDE_TRIES
from tests.kubernetes.rights.companion_thefts import ASKS, COMPANIONS, CONFIG_MAPS, RUNTIMES, SECRETS, runtime
from tests.kubernetes.rights.pod_thefts import (
    BAD_PLACEHOLDERS,
    POD_TRIES,
    placeholder,
    prepared,
    runs_a_gang,
    runs_a_pod,
)
from tests.kubernetes.rights.thefts import (
    BINDINGS,
    FLOWS,
    HELD,
    HOME,
    JOBS,
    OURS,
    PODS,
    ROOMS,
    TRIES,
    flow,
    job,
    pod,
    put,
    reservation,
    space,
    torch,
    volcano,
)
from tests.kubernetes.support.fleet import Api, until
from tests.kubernetes.support.policies_in_force import until_in_force

pytestmark = pytest.mark.asyncio(loop_scope="module")
Json = dict[str, Any]
MERGE = "application/merge-patch+json"
STEPS = "application/json-patch+json"


class Member:
    """A cluster that Fairway has joined, with a tenant's namespace `team` and a stranger's, `payments`."""

    def __init__(self, plane: Plane, folder: Path) -> None:
        self.plane = plane
        self._folder = folder
        self.owner = Api("owner", plane.kubeconfig)

    async def join(self, facts: Facts) -> None:
        async with admin(self.plane) as api:
            await api.apply(rights.objects(facts))
        path = f"v1/namespaces/{HOME}/serviceaccounts/fairway-member/token"
        token = self.owner.create(path, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
        stolen = self._folder / "stolen.kubeconfig"
        stolen.write_text(json.dumps(self.plane.kubeconfig_of(token)))
        self.thief = Api("thief", stolen)
        self.fairway = await KubernetesCluster.from_kubeconfig("m", stolen, Options())
        await asyncio.to_thread(until_in_force, self.owner)
        until(
            lambda: "ValidatingAdmissionPolicy" in self.tried("POST", "v1/namespaces", space("w")), "it has its rights"
        )

    def tried(self, method: str, path: str, body: Any = None) -> str:
        """What the API says to the thief; nothing when it did as he asked."""
        content = {"PATCH": STEPS if isinstance(body, list) else MERGE}.get(method, "application/json")
        where = f"/api/{path}" if path.startswith("v1/") else f"/apis/{path}"
        headers = {"Content-Type": content}
        answer = self.thief.http.request(method, where, content=json.dumps(body), headers=headers)
        return "" if answer.is_success else str(answer.json().get("message", answer.text))

    async def close(self) -> None:
        await self.fairway.close()
        for api in (self.owner, self.thief):
            api.http.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Member]:
    folder = tmp_path_factory.mktemp("stolen")
    planes = Planes(folder, tools(("kube", "kwok", "argo", "koordinator", "trainer", "appwrapper")))
    await planes.start([member("north")])
    made = Member(planes["north"], folder)
    try:
        await define(planes["north"], ("argo", "koordinator", "volcano", "training", "trainer", "appwrapper"), tools())
        await made.join(Facts())
        await made.fairway.apply("Job.batch/v1", job("team", "first"))
        await made.fairway.apply("Job.batch/v1", job("team", "smaller"))
        await made.fairway.apply("Job.batch.volcano.sh/v1alpha1", volcano("vc"))
        await made.fairway.apply("PyTorchJob.kubeflow.org/v1", torch("torch"))
        await made.fairway.create("PriorityClass.scheduling.k8s.io/v1", priority_class(0))
        await made.fairway.create("Queue.scheduling.volcano.sh/v1beta1", volcano_queue("own"))
        made.owner.create("v1/namespaces", space("payments"))
        made.owner.create(JOBS.format("payments"), job("payments", "theirs", {}, {}))
        made.owner.create(JOBS.format("team"), job("team", "theirs", {}, {}))
        for path in (CONFIG_MAPS, SECRETS):
            made.owner.create(path.format("team"), {"metadata": {"name": "own"}})
        made.owner.create(RUNTIMES, {**runtime(), "metadata": {"name": "own"}})
        for name in ("team", "payments", HOME):
            await asyncio.to_thread(_account, made.owner, name)
        for name, labels, gated in (("held", HELD, True), ("foreign", {}, True), ("bound", HELD, False)):
            made.owner.create(PODS.format("team"), pod(name, labels, gated))
        made.owner.create(PODS.format("payments"), pod("held", HELD))
        await prepared(made.owner, made.fairway)
        made.owner.create(FLOWS.format("team"), flow("flow", status={"phase": "Running"}))
        made.owner.create(ROOMS, reservation("theirs", {}))
        yield made
    finally:
        await made.close()
        await planes.stop()


def _account(owner: Api, namespace: str) -> None:
    until(lambda: owner.get(f"v1/namespaces/{namespace}/serviceaccounts/default"), f"pods can be made in {namespace}")


@pytest.mark.parametrize("what", [*TRIES, *POD_TRIES, *COMPANIONS, *CLUSTER_WIDE_TRIES])
async def test_a_thief_is_refused(place: Member, what: str) -> None:
    method, path, body, cause = (TRIES | POD_TRIES | COMPANIONS | CLUSTER_WIDE_TRIES)[what]
    assert cause in (said := place.tried(method, path, body)), said or "it was done"


@pytest.mark.parametrize("how", BAD_PLACEHOLDERS)
async def test_a_placeholder_can_do_nothing_but_wait(place: Member, how: str) -> None:
    said = place.tried("POST", PODS.format(HOME), placeholder(**BAD_PLACEHOLDERS[how]))
    causes = ("placeholders without a will of their own", "violates PodSecurity")
    assert any(one in said for one in causes), said or "it was made"


async def test_what_fairway_does_is_still_allowed(place: Member) -> None:
    """By the adapter that Fairway uses, with the same account."""
    await place.fairway.create("Pod.v1", placeholder())
    await place.fairway.discard("Pod.v1", HOME, {"fairway.io/placeholder": "true"})
    assert (await place.fairway.apply("Workflow.argoproj.io/v1alpha1", flow("second"))).uid
    await place.fairway.create("Reservation.scheduling.koordinator.sh/v1alpha1", reservation("held"))
    meta = (place.owner.get(PODS.format("team") + "/held") or {})["metadata"]
    seen = {name: meta[name] for name in ("uid", "resourceVersion")}
    nominated = {
        "metadata": {**seen, "labels": {"fairway.io/room": "1"}},
        "status": {"nominatedNodeName": "node-1"},
    }
    await place.fairway.patch("Pod.v1", "team", "held", nominated, "status")
    gates = {"metadata": {"uid": meta["uid"]}, "spec": {"schedulingGates": [{"name": "of/others"}]}}
    found = await place.fairway.patch("Pod.v1", "team", "held", gates) or {}
    assert found["status"]["nominatedNodeName"] == "node-1"
    assert found["spec"]["schedulingGates"] == [{"name": "of/others"}]
    await runs_a_gang(place.owner, place.fairway)
    await runs_a_pod(place.owner, place.fairway)
    await _sends_along(place)
    assert await place.fairway.delete("Job.batch/v1", "team", "first", OURS, wait_s=10)
    assert place.owner.get(JOBS.format("team") + "/theirs") is not None


async def _sends_along(place: Member) -> None:
    """Made, found, made to say something else, and, where it is immutable, made anew."""
    anchor = sent.anchor(b"key", "m", "team", ("j1", 1))
    owner = sent.owned_by(CONFIG_MAP, "fairway-j1-1", (await place.fairway.apply(CONFIG_MAP, anchor)).uid)
    bodies = {CONFIG_MAP: {"data": {"a": "1"}}, SECRET: {"data": {"a": "MQ=="}}, ACCOUNT: {}, CLAIM: {"spec": ASKS}}
    for kind, body in bodies.items():
        on_hub = {"metadata": {"name": "sent", "labels": {"app": "x"}}, **body}
        made = sent.companion(b"key", Spot("m", kind, "team", "sent"), on_hub, owner)
        await place.fairway.create(kind, made)
        there = await place.fairway.get(kind, "team", "sent") or {}
        assert await place.fairway.patch(kind, "team", "sent", sent.replaced(kind, there, made)) is not None
    for kind in (CONFIG_MAP, SECRET):
        await place.fairway.drop(kind, "team", "sent")
    first = (place.owner.get(JOBS.format("team") + "/first") or {})["metadata"]["uid"]
    owners = {"metadata": {"ownerReferences": [sent.owned_by("Job.batch/v1", "first", first)]}}
    assert await place.fairway.patch(CONFIG_MAP, "team", "fairway-j1-1", owners) is not None


IN_PLACE: dict[str, tuple[str, str, list[Json]]] = {
    "the pods of a Job": ("Job.batch/v1", "smaller", put("/spec/parallelism", 3)),
    "a limit that it did not have": ("Job.batch/v1", "smaller", put("/spec/activeDeadlineSeconds", 60)),
    "and has no longer": ("Job.batch/v1", "smaller", [{"op": "remove", "path": "/spec/activeDeadlineSeconds"}]),
    "a task of a Volcano job": ("Job.batch.volcano.sh/v1alpha1", "vc", put("/spec/tasks/1/replicas", 1)),
    "the workers of a PyTorchJob": (
        "PyTorchJob.kubeflow.org/v1",
        "torch",
        put("/spec/pytorchReplicaSpecs/Worker/replicas", 1),
    ),
    "limits of a PyTorchJob that had none": (
        "PyTorchJob.kubeflow.org/v1",
        "torch",
        put("/spec/runPolicy", {"backoffLimit": 1}),
    ),
    "what a Workflow does at once": ("Workflow.argoproj.io/v1alpha1", "flow", put("/spec/parallelism", 1)),
}


@pytest.mark.parametrize("what", IN_PLACE)
async def test_what_its_operator_takes_over_may_be_changed(place: Member, what: str) -> None:
    kind, name, steps = IN_PLACE[what]
    assert await place.fairway.patch(kind, "team", name, steps) is not None


async def test_a_binding_that_was_lost_is_made_anew_before_the_next_job_and_the_next_deletion(place: Member) -> None:
    lost = BINDINGS.format("often") + "/fairway-tenant"
    first = await place.fairway.apply("Job.batch/v1", job("often", "first"))
    assert first.uid
    place.owner.delete(lost)
    assert not (await place.fairway.apply("Job.batch/v1", job("often", "second"))).adopted
    place.owner.delete(lost)
    assert await place.fairway.delete("Job.batch/v1", "often", "second", OURS, wait_s=10)
    assert place.owner.get(lost) is not None


async def test_a_namespace_goes_no_higher_than_the_join_allowed(place: Member) -> None:
    with pytest.raises(ClusterRefused, match="--max-pod-security"):
        await place.fairway.apply("Job.batch/v1", job("high"), "privileged")
    assert place.owner.get("v1/namespaces/high") is None
