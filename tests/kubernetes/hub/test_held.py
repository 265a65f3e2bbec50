"""Objects that the hub holds: whoever asks for their names is told of them, and never of another job of the name."""

import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from fairway.client.failure import NOT_FOUND
from tests.kubernetes.hub.objects import QUEUE, Applied, all_of, applied, condition_of, fairway, printed, queues
from tests.kubernetes.support.fleet import RealFleet, until
from tests.kubernetes.support.tries import job, policy

Json = dict[str, Any]
CLASSES = "scheduling.k8s.io/v1/priorityclasses"
# Why, by the name of the object.
HELD = {
    "nobodys": "NoPolicy",
    "no-queue": "UnknownQueue",
    "no-class": "UnknownPriorityClass",
    "taken": "Duplicate",
}


def for_all(tenant: str, kind: str) -> Json:
    """A policy for every job of the kind."""
    made = policy(job(kind, tenant, f"all-{kind.lower()}"), "north")
    del made["spec"]["resourceSelectors"][0]["name"]
    return made


def over_http(fleet: RealFleet, what: Json, *policies: Json) -> str:
    """Its id."""
    body = {"manifest": what, "policies": list(policies), "client": f"test-{what['metadata']['namespace']}"}
    answer = httpx.post(f"{fleet.url}/v1/jobs", json=body, headers=fleet.known, trust_env=False)
    assert answer.is_success, answer.text
    return str(answer.json()["job"])


def cancelled(fleet: RealFleet, id: str) -> None:
    httpx.delete(f"{fleet.url}/v1/jobs/{id}", headers=fleet.known, trust_env=False)


def state(fleet: RealFleet, id: str) -> str:
    return str(fleet.asked(f"/{id}")["state"])


def all_held(fleet: RealFleet, tenant: str, queue: str, priority: str) -> tuple[dict[str, Applied], str]:
    """One of each, which would run for a second, and the job from another door whose name one has."""
    fleet.hub.apply(for_all(tenant, "Job"))
    taken = job("Job", tenant, "taken", run_for="1s")
    other = over_http(fleet, {**taken, "spec": job("Job", tenant, run_for="never")["spec"]})
    until(lambda: state(fleet, other) == "running", "the job of another door runs")
    nobodys = job("PyTorchJob", tenant, "nobodys", run_for="1s")
    no_queue = job("Job", tenant, "no-queue", run_for="1s")
    no_queue["metadata"]["annotations"] = {QUEUE: queue}
    no_class = job("Job", tenant, "no-class", run_for="1s")
    no_class["spec"]["template"]["spec"]["priorityClassName"] = priority
    ones = (nobodys, no_queue, no_class, taken)
    fleet.hub.apply(*ones)
    return {one["metadata"]["name"]: Applied(fleet, one) for one in ones}, other


@pytest.fixture(scope="module")
def held(fleet: RealFleet) -> Iterator[tuple[dict[str, Applied], str]]:
    """What is held for as long as these tests run, and the id of the other job."""
    tenant = f"held-{os.environ.get('PYTEST_XDIST_WORKER', 'gw')}"
    fleet.hub.create("v1/namespaces", {"metadata": {"name": tenant}})
    ones, other = all_held(fleet, tenant, "no-such-queue", "no-such-class")
    all_of(ones, lambda one: one.lacks(HELD[one.name]), "it is listed as held")
    yield ones, other
    cancelled(fleet, other)
    for one in ones.values():
        one.delete()


@pytest.fixture(params=HELD)
def one(held: tuple[dict[str, Applied], str], request: pytest.FixtureRequest) -> Applied:
    return held[0][request.param]


def test_it_is_listed_as_held_with_its_reason(fleet: RealFleet, one: Applied) -> None:
    row = one.row()
    assert (row["state"], row["reason"], row["kind"], row["attempt"]) == ("held", HELD[one.name], one.plain, 0)
    lines = fairway(fleet, "get", "jobs", "-n", one.namespace).splitlines()[1:]
    found = [line.split() for line in lines if line.split()[1] == one.name]
    assert [one.namespace, one.name, one.plain, "held"] in [line[:4] for line in found]
    assert any(HELD[one.name] in line for line in found)
    assert one.is_in() == (["north"] if one.name == "taken" else [])


def test_why_and_story_of_its_name_explain_it_and_no_other_job(fleet: RealFleet, one: Applied) -> None:
    why = fairway(fleet, "why", one.name, "-n", one.namespace)
    assert why.startswith(f"{one.plain} {one.namespace}/{one.name} is held on the hub"), why
    assert printed(fleet, "why", one.name, "-n", one.namespace)["reason"] == HELD[one.name]
    story = printed(fleet, "story", one.name, "-n", one.namespace)
    assert [line["what"] for line in story["lines"]] == ["held"]
    assert fairway(fleet, "story", one.name, "-n", one.namespace).startswith(
        f"{one.plain} {one.namespace}/{one.name}: held on the hub"
    )


def test_an_event_and_its_binding_say_so(one: Applied) -> None:
    code = HELD[one.name]
    until(lambda: one.warned(code), f"an Event warns of {code}; there are {one.told()}")
    until(lambda: one.binding, "it has a binding")
    said = {kind: condition_of(one.binding, kind) for kind in ("Queuing", "Scheduled", "FullyApplied")}
    assert [(found["status"], found["reason"]) for found in said.values()] == [
        ("True", code),
        ("False", code),
        ("False", code),
    ]
    text = one.row()["text"]
    assert all(text in found["message"] for found in said.values())
    assert one.told().count(code) == 1


def test_the_job_that_has_its_name_is_named_and_explained_as_itself(
    fleet: RealFleet, held: tuple[dict[str, Applied], str]
) -> None:
    ones, other = held
    one = ones["taken"]
    assert fleet.asked(f"/{one.row()['id']}")["holder"] == other
    assert other in one.asked("why")["because"]
    its = fleet.asked(f"/{other}/why")
    assert (its["job"], its["state"], "held on the hub" in its["where"]) == (other, "running", False)
    assert {(row["id"], row["state"]) for row in one.rows()} == {(one.row()["id"], "held"), (other, "running")}


def test_it_goes_as_soon_as_what_it_lacks_is_there(fleet: RealFleet, tenant: str) -> None:
    ones, other = all_held(fleet, tenant, f"{tenant}-gold"[-63:].strip("-"), tenant)
    try:
        all_of(ones, lambda one: one.lacks(HELD[one.name]), "it is listed as held")
        fleet.hub.create(CLASSES, {"metadata": {"name": tenant}, "value": 7})
        fleet.hub.apply(for_all(tenant, "PyTorchJob"))
        cancelled(fleet, other)
        with queues(fleet.hub, tenant, gold="Priority"):
            all_of(ones, Applied.ended_well, "it has run")
    finally:
        fleet.hub.delete(f"{CLASSES}/{tenant}")
    assert all(one.row()["state"] == "succeeded" for one in ones.values())


def test_what_is_deleted_while_it_is_held_is_forgotten(fleet: RealFleet, tenant: str) -> None:
    one = applied(fleet, job("Job", tenant))
    one.waits("NoPolicy")
    until(lambda: one.binding, "it has a binding")
    one.delete()
    until(lambda: not one.rows() and not one.binding, "nothing of it is listed")
    assert "try" in fairway(fleet, "why", "try", "-n", tenant, code=NOT_FOUND)


def test_an_ended_job_of_the_name_explains_nothing_of_it(fleet: RealFleet, tenant: str) -> None:
    what = job("Job", tenant, run_for="100ms")
    first = over_http(fleet, what, policy(what, "north"))
    until(lambda: state(fleet, first) == "succeeded", "the first job has ended")
    one = applied(fleet, what)
    one.waits("NoPolicy")
    assert fairway(fleet, "why", "try", "-n", tenant).startswith(f"Job {tenant}/try is held on the hub")
    assert {row["state"] for row in one.rows()} == {"held", "succeeded"}
