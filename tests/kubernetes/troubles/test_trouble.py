"""API servers that are killed, stall, refuse, forget, or will not take a job: nothing is lost, nothing runs twice, and
the story says why."""

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from aiohttp import web

from tests.kubernetes.support.fleet import namespace, until
from tests.kubernetes.support.own import crd
from tests.kubernetes.troubles.meddler import refusal
from tests.kubernetes.troubles.troubled import HUB, JOBS, POLICIES, Troubled, job, policy, torch

Json = dict[str, Any]
CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions"
ADMISSION = "admissionregistration.k8s.io/v1"


def writes(asked: list[str], tenant: str) -> list[str]:
    """What was written of a tenant's jobs."""
    return [one for one in asked if not one.startswith("GET") and f"/namespaces/{tenant}/jobs" in one]


def test_a_job_is_one_call_to_its_member_and_none_while_it_runs(fleet: Troubled, tenant: str) -> None:
    begun = len(fleet.asked("near"))
    fleet.members["near"].create("v1/namespaces", namespace(tenant))
    fleet.submit(tenant, "plain", ["near"], run_for="8s")
    fleet.arrives(tenant, "plain", "near")
    asked = writes(fleet.asked("near")[begun:], tenant)
    until(lambda: fleet.job(tenant, "plain")["state"] == "running", "it runs")
    made = fleet.there("near", tenant, "plain")
    fleet.ends(tenant, "plain")
    after = fleet.there("near", tenant, "plain")
    assert asked == [f"POST /apis/batch/v1/namespaces/{tenant}/jobs?fieldManager=fairway&fieldValidation=Ignore"]
    assert writes(fleet.asked("near")[begun:], tenant) == asked
    assert made is not None and after is not None
    # The server's defaults and its spelling of quantities are no reason to write again.
    assert after["metadata"]["generation"] == made["metadata"]["generation"]


def take_name(fleet: Troubled, tenant: str, name: str) -> Json:
    """Somebody else's job of that name, which does nothing, in near."""
    near = fleet.members["near"]
    theirs = job(name)
    near.create("v1/namespaces", namespace(tenant))
    theirs["spec"]["suspend"] = True
    return near.create(JOBS.format(tenant), theirs)


def test_a_name_that_somebody_else_has_is_never_touched(fleet: Troubled, tenant: str) -> None:
    before = take_name(fleet, tenant, "taken")
    fleet.submit(tenant, "taken")
    until(lambda: fleet.there("far", tenant, "taken"), "it is in the other member")
    found = fleet.there("near", tenant, "taken")
    assert found is not None
    assert (found["metadata"]["uid"], found["spec"]) == (before["metadata"]["uid"], before["spec"])
    assert "fairway.io/job" not in found["metadata"].get("labels", {})
    assert [one["cluster"] for one in fleet.job(tenant, "taken")["attempts"]] == ["near", "far"]
    assert "NameConflict" in fleet.story(tenant, "taken")


def test_a_name_that_is_taken_everywhere_says_so(fleet: Troubled, tenant: str) -> None:
    take_name(fleet, tenant, "mine")
    fleet.submit(tenant, "mine", ["near"])
    fleet.tells(tenant, "mine", "NameConflict")


def test_a_namespace_that_is_going_is_waited_for_and_then_waited_out_elsewhere(fleet: Troubled, tenant: str) -> None:
    near = fleet.members["near"]
    near.create("v1/namespaces", namespace(tenant))
    held = {"metadata": {"name": "held", "finalizers": ["example.org/hold"]}}
    near.create(f"v1/namespaces/{tenant}/configmaps", held)
    near.delete(f"v1/namespaces/{tenant}")
    begun = len(fleet.asked("near"))
    since = time.monotonic()
    fleet.submit(tenant, "homeless")
    until(lambda: fleet.there("far", tenant, "homeless"), "it is in the other member", 90)
    waited = time.monotonic() - since
    tried = writes(fleet.asked("near")[begun:], tenant)
    near.patch(f"v1/namespaces/{tenant}/configmaps/held", {"metadata": {"finalizers": []}})
    story = fleet.story(tenant, "homeless")
    assert "NamespaceTerminating" in story and "being terminated" in story
    # As long as its room is reserved, once a second.
    assert 30 < len(tried) <= waited + 1


@pytest.fixture
def gatekeeper(fleet: Troubled, tenant: str) -> Iterator[None]:
    """Near does not take jobs of this tenant."""
    near = fleet.members["near"]
    name = f"no-jobs-{tenant}"
    rule = {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}
    near.create(
        f"{ADMISSION}/validatingadmissionpolicies",
        {
            "metadata": {"name": name},
            "spec": {
                "matchConstraints": {"resourceRules": [rule]},
                "failurePolicy": "Fail",
                "validations": [{"expression": "false", "message": "no jobs after five o'clock"}],
            },
        },
    )
    selected = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": tenant}}}
    binding = {"policyName": name, "validationActions": ["Deny"], "matchResources": selected}
    near.create(f"{ADMISSION}/validatingadmissionpolicybindings", {"metadata": {"name": name}, "spec": binding})
    near.create("v1/namespaces", namespace(tenant))
    probe = f"{JOBS.format(tenant)}?dryRun=All"
    until(lambda: near.http.post(f"/apis/{probe}", json=job("probe")).status_code == 422, "the policy is in force")
    yield
    near.delete(f"{ADMISSION}/validatingadmissionpolicybindings/{name}")
    near.delete(f"{ADMISSION}/validatingadmissionpolicies/{name}")


def test_a_job_that_a_member_refuses_goes_elsewhere_and_the_reason_is_kept(
    fleet: Troubled, tenant: str, gatekeeper: None
) -> None:
    begun = len(fleet.asked("near"))
    for number in range(4):
        fleet.submit(tenant, f"refused-{number}")
    for number in range(4):
        until(lambda number=number: fleet.there("far", tenant, f"refused-{number}"), "all are in the other member")
    tried = writes(fleet.asked("near")[begun:], tenant)
    assert 1 <= len(tried) <= 4
    stories = "".join(fleet.story(tenant, f"refused-{number}") for number in range(4))
    assert "no jobs after five o'clock" in stories


def test_a_job_that_every_member_refuses_ends_with_the_reason(fleet: Troubled, tenant: str, gatekeeper: None) -> None:
    begun = len(fleet.asked("near"))
    fleet.submit(tenant, "unwanted", ["near"])
    fleet.tells(tenant, "unwanted", "no jobs after five o'clock")
    time.sleep(3)  # long enough for a loop to show
    assert len(writes(fleet.asked("near")[begun:], tenant)) <= 3


def test_a_kind_that_a_member_does_not_serve_is_said_and_its_installation_noticed(fleet: Troubled, tenant: str) -> None:
    where = "kubeflow.org/v1/namespaces/{}/pytorchjobs"
    assert not fleet.members["near"].get(f"{CRDS}/pytorchjobs.kubeflow.org")
    fleet.hub.create(POLICIES.format(tenant), policy("learn", ["near"], "PyTorchJob", "kubeflow.org/v1"))
    fleet.hub.create(where.format(tenant), torch("learn"))
    fleet.tells(tenant, "learn", "KindNotServed", "why")
    fleet.members["near"].create(CRDS, crd("kubeflow.org", "PyTorchJob"))
    begun = time.monotonic()
    until(lambda: fleet.members["near"].get(f"{where.format(tenant)}/learn"), "it is there", 30)
    took = time.monotonic() - begun
    fleet.hub.delete(f"{where.format(tenant)}/learn")
    until(lambda: not fleet.members["near"].get(f"{where.format(tenant)}/learn"), "it is gone again", 30)
    fleet.members["near"].delete(f"{CRDS}/pytorchjobs.kubeflow.org")
    assert took < 20


def test_a_busy_member_is_asked_again_when_it_said(fleet: Troubled, tenant: str) -> None:
    times: list[float] = []

    def busy(request: web.BaseRequest) -> web.Response | None:
        if request.method != "POST" or tenant not in request.path or len(times) >= 3:
            return None
        times.append(time.monotonic())
        return refusal(429, "TooManyRequests", Retry_After="1") if len(times) < 3 else None

    fleet.meddlers["near"].fault = busy
    fleet.submit(tenant, "patient", ["near"])
    fleet.arrives(tenant, "patient", "near")
    assert len(times) == 3
    assert all(later - sooner >= 1.0 for sooner, later in pairwise(times))


@pytest.mark.parametrize("code", [500, 503, 401])
def test_a_member_that_fails_for_a_while_gets_the_job_once_it_is_well(fleet: Troubled, tenant: str, code: int) -> None:
    """401: the credentials expired, and are renewed a while later."""
    refused: list[str] = []

    def failing(request: web.BaseRequest) -> web.Response | None:
        refused.append(request.method)
        return refusal(code, {401: "Unauthorized", 500: "InternalError"}.get(code, "ServiceUnavailable"))

    fleet.submit(tenant, "before", ["near"], run_for="never")
    until(lambda: fleet.job(tenant, "before")["state"] == "running", "one runs")
    fleet.meddlers["near"].fault = failing
    fleet.spoil("near", lambda meddler: meddler.cut())
    fleet.submit(tenant, "after", ["near"], run_for="1s")
    until(lambda: len(refused) > 3, "it was refused")
    fleet.finish("near", tenant, "before")
    fleet.restore()
    fleet.ends(tenant, "before")
    fleet.ends(tenant, "after")
    assert [one["number"] for one in fleet.job(tenant, "before")["attempts"]] == [1]


def test_a_member_that_is_killed_and_has_forgotten_catches_up_when_it_is_back(fleet: Troubled, tenant: str) -> None:
    for number in range(3):
        fleet.submit(tenant, f"runs-{number}", ["near"], run_for="never")
    for number in range(3):
        until(lambda number=number: fleet.job(tenant, f"runs-{number}")["state"] == "running", "all run")
    uids = [fleet.there("near", tenant, f"runs-{number}")["metadata"]["uid"] for number in range(3)]
    fleet.own.kill_api("near")
    fleet.submit(tenant, "later", ["near"], run_for="1s")
    fleet.own.compact()
    fleet.own.start_api("near")
    for number in range(3):
        fleet.finish("near", tenant, f"runs-{number}")
    for name in ("runs-0", "runs-1", "runs-2", "later"):
        fleet.ends(tenant, name, 90)
    assert [fleet.there("near", tenant, f"runs-{number}")["metadata"]["uid"] for number in range(3)] == uids
    assert all(len(fleet.job(tenant, f"runs-{number}")["attempts"]) == 1 for number in range(3))


def test_a_hub_that_is_killed_in_a_burst_loses_and_doubles_no_job(fleet: Troubled, tenant: str) -> None:
    for number in range(30):
        if number == 15:
            fleet.own.kill_api(HUB)
            fleet.own.compact()
            fleet.own.start_api(HUB)
        fleet.submit(tenant, f"burst-{number}", ["near"], run_for="100ms")
    for number in range(30):
        fleet.ends(tenant, f"burst-{number}", 120)
    there = fleet.members["near"].items(JOBS.format(tenant))
    assert sorted(one["metadata"]["name"] for one in there) == sorted(f"burst-{number}" for number in range(30))
    assert {one["metadata"]["labels"]["fairway.io/attempt"] for one in there} == {"1"}


def test_a_connection_that_hangs_loses_no_job(fleet: Troubled, tenant: str) -> None:
    """Half open: requests go in and nothing comes back, for longer than anybody waits for a heartbeat."""
    fleet.spoil("near", lambda meddler: meddler.held.clear())
    fleet.submit(tenant, "hung", ["near"], run_for="1s")
    until(lambda: fleet.id(tenant, "hung"), "it is known")
    time.sleep(7)  # longer than the agent's heartbeat
    fleet.restore()
    fleet.ends(tenant, "hung", 120)
    assert len(fleet.where(tenant, "hung")) == 1
