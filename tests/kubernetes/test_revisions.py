"""Another manifest of a job that runs, taken over by its real operator in its member, or refused with the fields."""

import asyncio
import copy
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairway.adapters.nats.bus import NatsBus
from fairway.domain.events import message_id
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from tests.kubernetes.support.fleet import KINDS, RealFleet, in_namespace, until
from tests.kubernetes.support.tries import Json, job, template, tried

Change = Callable[[Json], None]


def elastic(tenant: str) -> Json:
    """Three pods, of which two may go."""
    made = job("PyTorchJob", tenant)
    made["spec"]["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 2}
    roles = made["spec"]["pytorchReplicaSpecs"]
    made["spec"]["pytorchReplicaSpecs"] = {"Worker": {**roles["Worker"], "replicas": 2}}
    return made


def volcano(tenant: str) -> Json:
    pod = template()
    pod["spec"]["restartPolicy"] = "Never"
    tasks = [{"name": "work", "replicas": 2, "minAvailable": 1, "template": pod}]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "try", "namespace": tenant},
        "spec": {"minAvailable": 1, "schedulerName": "volcano", "tasks": tasks},
    }


def one_pod(body: Json) -> None:
    body["spec"]["parallelism"] = 1


def one_worker(body: Json) -> None:
    body["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 1


def one_of_the_task(body: Json) -> None:
    body["spec"]["tasks"][0]["replicas"] = 1


def another_image(body: Json) -> None:
    text = json.dumps(body["spec"]).replace('"image": "x"', '"image": "y"')
    body["spec"] = json.loads(text)


def more(body: Json) -> None:
    """Twice as many pods."""
    text = json.dumps(body["spec"])
    for name in ("parallelism", "completions", "replicas", "maxReplicas"):
        text = text.replace(f'"{name}": 2', f'"{name}": 4')
    body["spec"] = json.loads(text)


class Revised:
    """A job that runs with two pods in a member. `revise` says what the hub says when its object is changed there."""

    def __init__(self, fleet: RealFleet, kind: str, made: Json, member: str) -> None:
        self.fleet = fleet
        self.kind = kind
        self.tenant = made["metadata"]["namespace"]
        self.member = fleet.members[member]
        self._times = 0
        tried(fleet, made, member)
        until(lambda: self.running() == 2, "two pods run", 90)
        until(lambda: "running" in self.said(), "it is said to run")

    @property
    def object(self) -> Json:
        found = self.member.job(self.kind, self.tenant, "try")
        assert found is not None
        return found

    def running(self) -> int:
        pods = self.member.pods(self.tenant)
        return sum(
            one["status"].get("phase") == "Running" and not one["metadata"].get("deletionTimestamp") for one in pods
        )

    def lines(self) -> list[Json]:
        story = self.fleet.explained("story", self.tenant, "try")
        return list(story["lines"]) if story else []

    def said(self) -> list[str]:
        return [line["what"] for line in self.lines()]

    def revise(self, change: Change) -> None:
        body = copy.deepcopy(self.fleet.hub.job(self.kind, self.tenant, "try"))
        assert body is not None
        uid = body["metadata"]["uid"]
        for name in ("managedFields", "resourceVersion", "generation", "creationTimestamp", "uid"):
            body["metadata"].pop(name, None)
        body.pop("status", None)
        change(body)
        self._times += 1
        said = wire.Revise(
            job=self.object["metadata"]["labels"]["fairway.io/job"],
            tenant=self.tenant,
            manifest=msgspec.Raw(msgspec.json.encode(body)),
            client=f"hub:{uid}",
            source="hub",
            hub=wire.HubRef(uid),
            who=Actor(f"hub:{self.tenant}", "hub", uid),
        )
        name = message_id("test", uid, self._times)
        one = Outgoing(name, subjects.job(said.verb, self.tenant), msgspec.json.encode(said))
        asyncio.run(_published(str(self.fleet.facts["nats"]), one))


async def _published(url: str, message: Outgoing) -> None:
    bus = await NatsBus.connect(url, "test")
    try:
        await bus.publish([message])
    finally:
        await bus.close()


CASES: dict[str, tuple[str, Callable[[str], Json], str, Change, str]] = {
    "a Job": ("Job", lambda tenant: job("Job", tenant), "north", one_pod, "spec.template"),
    "an elastic PyTorchJob": ("PyTorchJob", elastic, "north", one_worker, "spec.pytorchReplicaSpecs.Worker.template"),
    "a Volcano job": ("VolcanoJob", volcano, "south", one_of_the_task, "spec.tasks[0].template"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_runs_is_made_smaller_in_its_member_and_nothing_else_is_changed(
    fleet: RealFleet, tenant: str, case: str
) -> None:
    kind, made, member, smaller, template_of = CASES[case]
    one = Revised(fleet, kind, made(tenant), member)
    uid = one.object["metadata"]["uid"]
    one.revise(another_image)
    one.revise(more)
    one.revise(smaller)
    until(lambda: one.running() == 1, "one pod runs", 90)
    until(lambda: "amended" in one.said(), "it is said to be changed")
    refused = [line["sentence"] for line in one.lines() if line["what"] == "unchanged"]
    assert len(refused) == 2 and any("room is reserved for 2" in text for text in refused), refused
    assert any(f"{template_of}.spec.containers[0].image cannot change" in text for text in refused), refused
    assert [what for what in one.said() if what in ("lost", "failed", "recall")] == []
    assert one.object["metadata"]["uid"] == uid
    assert {pod["spec"]["containers"][0]["image"] for pod in one.member.pods(tenant)} == {"x"}
    one.fleet.members[member].patch(in_namespace(KINDS[kind], tenant, "try"), edited(one.object))
    until(lambda: "lost" in one.said(), "what somebody else changes there is still found out")


def edited(body: Json) -> Json:
    """As somebody would who has rights in the member; a merge patch."""
    change: dict[str, Any] = {"spec": {"backoffLimit": 3}}
    if body["apiVersion"].startswith("batch.volcano.sh"):
        tasks = [{**task, "replicas": 2} for task in body["spec"]["tasks"]]
        change = {"spec": {"tasks": tasks}}
    elif body["kind"] == "PyTorchJob":
        change = {"spec": {"runPolicy": {"cleanPodPolicy": "All"}}}
    return change
