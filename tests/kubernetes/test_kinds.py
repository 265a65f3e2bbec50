"""Every kind of job, from `kubectl apply` on the hub until nothing is left of it, run by its real operator.

The manifests are those of deploy/examples, and small ones of some kinds of kubeflow.org. What a member needs a
container for is played: see kubereal/standin.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.kubernetes.hub.objects import fairway
from tests.kubernetes.support.fleet import Json, RealFleet, resource_of, until
from tests.kubernetes.support.leftovers import everything
from tests.kubernetes.support.manifests import EXAMPLES_OF_KINDS, Example, example

JOB_LABEL = "fairway.io/job"

every_kind = pytest.mark.parametrize("case", EXAMPLES_OF_KINDS, ids=str)


@every_kind
@pytest.mark.usefixtures("classes")
def test_a_job_applied_on_the_hub_runs_whole_in_one_member_and_shows_its_good_end_on_the_hub(
    fleet: RealFleet, tenant: str, case: Example
) -> None:
    *beside, job, policy = example(case.file, tenant, case.cluster)
    name = job["metadata"]["name"]
    member = fleet.members[case.cluster]

    fleet.hub.apply(*beside, job, policy)
    until(lambda: fleet.where(case.kind, tenant, name), f"{case.kind} {name} in a member")
    seen: dict[str, Json] = {}
    until(partial(_all_seen, partial(member.pods, tenant), seen, case.pods), f"{case.pods} pods in {case.cluster}")
    fleet.hub.kubectl("-n", tenant, "wait", f"{resource_of(case.kind)}/{name}", f"--for={case.good}", "--timeout=90s")

    assert fleet.where(case.kind, tenant, name) == [case.cluster], "one member, and the whole job there"
    assert not [one for one in fleet.hub.pods(tenant) if case.kind != "Pod" or one["spec"].get("nodeName")]
    there = member.job(case.kind, tenant, name)
    assert there and there["metadata"]["labels"][JOB_LABEL], "the object in the member says whose it is"
    mine = {one["metadata"]["labels"].get(JOB_LABEL) for one in seen.values()}
    assert mine == {there["metadata"]["labels"][JOB_LABEL]}, "and so does every pod"

    fleet.hub.kubectl("-n", tenant, "delete", f"{resource_of(case.kind)}/{name}", "--timeout=60s")
    _nothing_is_left(fleet, tenant, *beside, policy)


@every_kind
@pytest.mark.usefixtures("classes")
def test_a_running_job_that_is_cancelled_leaves_its_member_and_says_so_on_the_hub(
    fleet: RealFleet, tenant: str, case: Example
) -> None:
    *beside, name, policy = _runs(fleet, tenant, case)
    fairway(fleet, "cancel", name, "-n", tenant)
    fleet.hub.kubectl("-n", tenant, "wait", f"{resource_of(case.kind)}/{name}", f"--for={case.bad}", "--timeout=90s")
    until(lambda: not fleet.where(case.kind, tenant, name), f"{case.kind} {name} has left {case.cluster}")
    assert _state(fleet, tenant, name) == "cancelled"
    fleet.hub.kubectl("-n", tenant, "delete", f"{resource_of(case.kind)}/{name}", "--timeout=60s")
    _nothing_is_left(fleet, tenant, *beside, policy)


DELETED = [one for one in EXAMPLES_OF_KINDS if one.kind in ("Pod", "VolcanoJob", "SparkApplication", "LeaderWorkerSet")]


@pytest.mark.parametrize("case", DELETED, ids=str)
@pytest.mark.usefixtures("classes")
def test_a_running_job_deleted_on_the_hub_leaves_nothing_anywhere(fleet: RealFleet, tenant: str, case: Example) -> None:
    *beside, name, policy = _runs(fleet, tenant, case)
    fleet.hub.kubectl("-n", tenant, "delete", f"{resource_of(case.kind)}/{name}", "--timeout=60s")
    _nothing_is_left(fleet, tenant, *beside, policy)


def _runs(fleet: RealFleet, tenant: str, case: Example) -> tuple[Any, ...]:
    """What the job refers to, its name and its policy, when it runs."""
    *beside, job, policy = example(case.file, tenant, case.cluster, run_for="1h")
    name = job["metadata"]["name"]
    member = fleet.members[case.cluster]
    fleet.hub.apply(*beside, job, policy)
    until(lambda: _running(member.pods(tenant)), f"a running pod of {case.kind} {name} in {case.cluster}")
    until(lambda: _state(fleet, tenant, name) == "running", f"Fairway reads its status as running, {name}")
    return *beside, name, policy


def _all_seen(pods: Callable[[], list[Json]], seen: dict[str, Json], count: int) -> bool:
    """Whether so many different pods have been there by now: those of a workflow come and go."""
    seen |= {one["metadata"]["name"]: one for one in pods()}
    return len(seen) >= count


def _running(pods: list[Json]) -> bool:
    return any(one["status"].get("phase") == "Running" for one in pods)


def _state(fleet: RealFleet, tenant: str, name: str) -> str:
    return str((fleet.explained("why", tenant, name) or {}).get("state"))


def _nothing_is_left(fleet: RealFleet, tenant: str, *beside: Json) -> None:
    """Of the job; the policy, and what the job refers to, are the user's, who deletes them."""
    for one in beside:
        scope = () if one["kind"].startswith("Cluster") else ("-n", tenant)
        group = one["apiVersion"].partition("/")[0]
        fleet.hub.kubectl(*scope, "delete", f"{one['kind']}.{group}/{one['metadata']['name']}")
    for api in (fleet.hub, *fleet.members.values()):
        until(lambda api=api: not everything(api, tenant), f"{api.name} is empty, which has {everything(api, tenant)}")
