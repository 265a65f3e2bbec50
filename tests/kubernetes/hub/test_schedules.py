"""Schedules on a hub that has no controllers for them: each run is a job that goes to a member, and ends there."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from fairway.adapters.system_clock import SystemClock
from fairway.workloads.schedules.schedule import stamp
from tests.kubernetes.hub.objects import Applied, fairway
from tests.kubernetes.support.fleet import KINDS, RealFleet, in_namespace, until
from tests.kubernetes.support.tries import API, job, policy

Json = dict[str, Any]
HOUR = 3_600_000
SCHEDULES = {
    "CronJob": "batch/v1/cronjobs",
    "CronWorkflow": "argoproj.io/v1alpha1/cronworkflows",
    "ScheduledSparkApplication": "sparkoperator.k8s.io/v1beta2/scheduledsparkapplications",
}


class Case(Struct, frozen=True):
    """`run` is the kind of its jobs; `last` the field of its status that says when it ran last, in `part`."""

    kind: str
    run: str
    last: str
    part: str
    spec: Json

    @property
    def path(self) -> str:
        return SCHEDULES[self.kind]


def spec_of(kind: str) -> Json:
    spec: Json = job(kind, "x", run_for="300ms")["spec"]
    return spec


CASES = (
    Case(
        "CronJob",
        "Job",
        "lastScheduleTime",
        "/status",
        {"jobTemplate": {"metadata": {"labels": {"team": "x"}}, "spec": spec_of("Job")}},
    ),
    Case(
        "CronWorkflow",
        "Workflow",
        "lastScheduledTime",
        "",
        {"workflowSpec": spec_of("Workflow"), "startingDeadlineSeconds": 3_600},
    ),
    Case(
        "ScheduledSparkApplication", "SparkApplication", "lastRun", "/status", {"template": spec_of("SparkApplication")}
    ),
)


def schedule(case: Case, tenant: str, **spec: Any) -> Json:
    version = API[case.run]
    meta = {"name": "tick", "namespace": tenant}
    return {
        "apiVersion": version,
        "kind": case.kind,
        "metadata": meta,
        "spec": {"schedule": "0 * * * *", **case.spec, **spec},
    }


def to_all(case: Case, tenant: str) -> Json:
    """The policy of all runs: nobody knows their names before."""
    found = policy(job(case.run, tenant), "north")
    del found["spec"]["resourceSelectors"][0]["name"]
    return found


def ran_last(fleet: RealFleet, case: Case, tenant: str, hours: int) -> None:
    """Nobody waits for an hour: the last run was so long ago."""
    at = stamp(SystemClock().now() - hours * HOUR)
    path = in_namespace(case.path, tenant, "tick")
    fleet.hub.patch(f"{path}{case.part}", {"status": {case.last: at}})


def runs(fleet: RealFleet, case: Case, tenant: str) -> list[str]:
    return [one["metadata"]["name"] for one in fleet.hub.items(in_namespace(KINDS[case.run], tenant))]


@pytest.fixture
def gone_after(fleet: RealFleet, tenant: str) -> Iterator[None]:
    yield
    for path in SCHEDULES.values():
        fleet.hub.delete(in_namespace(path, tenant))


@pytest.mark.parametrize("case", CASES, ids=[one.kind for one in CASES])
@pytest.mark.usefixtures("gone_after")
def test_a_run_that_is_due_becomes_a_job_that_ends_in_a_member_and_goes_with_its_schedule(
    fleet: RealFleet, tenant: str, case: Case
) -> None:
    fleet.hub.apply(to_all(case, tenant), schedule(case, tenant))
    assert runs(fleet, case, tenant) == []
    ran_last(fleet, case, tenant, 2)
    until(lambda: runs(fleet, case, tenant), "its run is made")
    (name,) = runs(fleet, case, tenant)
    meant = stamp(SystemClock().now() // HOUR * HOUR)
    one = Applied(
        fleet, {"kind": case.run, "apiVersion": API[case.run], "metadata": {"name": name, "namespace": tenant}}
    )
    until(lambda: one.row().get("state") == "succeeded", "its job succeeds")
    shown = fleet.hub.get(in_namespace(case.path, tenant, "tick")) or {}
    assert shown["status"][case.last] == meant
    (owner,) = one.on_hub["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == (case.kind, shown["metadata"]["uid"], True)
    assert runs(fleet, case, tenant) == [name], "and no other is made"
    fleet.hub.delete(in_namespace(case.path, tenant, "tick"))
    until(lambda: not runs(fleet, case, tenant), "its runs go with it")
    until(lambda: not one.is_in(), "from the member, too")


@pytest.mark.usefixtures("gone_after")
def test_what_cannot_be_read_is_said_on_the_schedule(fleet: RealFleet, tenant: str) -> None:
    case = CASES[1]
    fleet.hub.apply(schedule(case, tenant, timezone="Mars/Base"))

    def told() -> list[str]:
        found = fleet.hub.items(f"v1/namespaces/{tenant}/events")
        return [one["message"] for one in found if one["reason"] == "InvalidSchedule"]

    until(told, "an Event says so")
    assert "spec.timezone" in told()[0]
    assert "tick" not in fairway(fleet, "get", "jobs", "-n", tenant)
