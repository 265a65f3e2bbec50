"""An attempt that fails in its cluster, in whatever way, is over there: nothing of it is left, and the next one runs
elsewhere."""

import json

import pytest

from tests.kubernetes.support.fleet import RealFleet, until
from tests.kubernetes.support.pool import pool
from tests.kubernetes.support.tries import Tried, in_pool, job, tried

EVER = {"run_for": "never"}


def goes_on_in(one: Tried, code: str, cluster: str = "west", left: str = "north", seconds: float = 120) -> None:
    """The second attempt runs elsewhere, nothing of the first is left, and the story tells why."""
    one.runs_in(cluster, seconds=seconds)
    one.is_gone_from(left)
    found = one.fleet.members[cluster].job(one.kind, one.namespace, one.name)
    assert found is not None
    assert found["metadata"]["labels"]["fairway.io/attempt"] == "2"
    told = json.dumps(one.fleet.explained("story", one.namespace, one.name))
    assert [word for word in (left, cluster, code) if word not in told] == []


FAILS: dict[str, tuple[str, dict[str, str], str]] = {
    "a pod of a Job fails": ("Job", {"run_for": "2s", "fail_in_cluster": "north"}, "JobFailed"),
    "a Spark driver fails": ("SparkApplication", {"run_for": "2s", "fail_in_cluster": "north"}, "JobFailed"),
    "pods never start": ("PyTorchJob", {"never_start_in_cluster": "north"}, "StartTimeout"),
    "a Spark driver never starts": ("SparkApplication", {"never_start_in_cluster": "north"}, "StartTimeout"),
}


@pytest.mark.parametrize(("kind", "how", "code"), FAILS.values(), ids=list(FAILS))
def test_what_fails_in_one_cluster_goes_on_in_another(
    fleet: RealFleet, tenant: str, kind: str, how: dict[str, str], code: str
) -> None:
    start = "8s" if code == "StartTimeout" else "5m"
    one = tried(fleet, job(kind, tenant, **how), "north", "west", start=start)
    goes_on_in(one, code)


def test_an_object_that_somebody_deletes_is_made_anew_elsewhere(fleet: RealFleet, tenant: str) -> None:
    one = tried(fleet, job("PyTorchJob", tenant, **EVER), "north", "west")
    one.runs_in("north", 2)
    fleet.members["north"].kubectl("delete", "pytorchjobs", "try", "-n", tenant, "--wait=false")
    goes_on_in(one, "Vanished")


EDITS = {
    "Job": '{"spec": {"parallelism": 1}}',
    "PyTorchJob": '{"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2}}}}',
    "SparkApplication": '{"spec": {"executor": {"instances": 2}}}',
    "suspended Job": '{"spec": {"suspend": true}}',
}


@pytest.mark.parametrize("what", EDITS)
def test_an_object_that_somebody_edits_is_made_anew_elsewhere(fleet: RealFleet, tenant: str, what: str) -> None:
    kind = what.split()[-1]
    one = tried(fleet, job(kind, tenant, **EVER), "north", "west")
    one.runs_in("north", 2)
    plural = f"{kind.lower()}s"
    fleet.members["north"].kubectl("patch", plural, "try", "-n", tenant, "--type=merge", "-p", EDITS[what])
    goes_on_in(one, "Edited")
    assert "kubectl-patch" in one.story()


def test_an_object_that_lost_our_labels_is_found_again_and_made_anew_elsewhere(fleet: RealFleet, tenant: str) -> None:
    one = tried(fleet, job("Job", tenant, **EVER), "north", "west")
    one.runs_in("north", 2)
    fleet.members["north"].kubectl("label", "jobs", "try", "-n", tenant, "fairway.io/job-", "fairway.io/attempt-")
    goes_on_in(one, "Edited")


@pytest.mark.parametrize("kind", ["Job", "PyTorchJob", "SparkApplication", "Workflow", "JobSet"])
def test_what_operators_and_people_write_beside_the_spec_is_no_edit(fleet: RealFleet, tenant: str, kind: str) -> None:
    one = tried(fleet, job(kind, tenant, run_for="6s"), "north", "west")
    one.runs_in("north")
    where = (f"{kind.lower()}s", "try", "-n", tenant)
    fleet.members["north"].kubectl("label", *where, "team=blue")
    fleet.members["north"].kubectl("annotate", *where, "note=seen")
    good = {"Job": "Complete", "PyTorchJob": "Succeeded", "JobSet": "Completed"}
    end = good.get(kind, "COMPLETED" if kind == "SparkApplication" else "Succeeded")
    until(lambda: one.phase() == end, f"{kind} ends well", 90)
    assert "attempt 2" not in one.story()


@pytest.mark.slow  # test_nodes.py has a node that stays away
def test_a_job_whose_node_is_taken_away_goes_on_elsewhere(fleet: RealFleet, tenant: str) -> None:
    with pool(fleet.members["north"], tenant, 1) as near, pool(fleet.members["west"], tenant, 1):
        one = tried(fleet, in_pool(near), "north", "west", start="15s")
        one.runs_in("north", 2)
        near.close()
        goes_on_in(one, "NodeLost", seconds=240)
