"""Schedules on a hub that has no controllers for them: each run is a job that goes to a member, and ends there."""

from collections.abc import Iterator
from typing import Any

import pytest

from fairway.adapters.system_clock import SystemClock
from fairway.workloads.schedules.schedule import stamp
from tests.kubernetes.hub.objects import Applied, fairway
from tests.kubernetes.hub.schedule_kinds import CRON_WORKFLOW, HOUR, SCHEDULES, Kind
from tests.kubernetes.support.fleet import KINDS, RealFleet, in_namespace, until
from tests.kubernetes.support.tries import job, policy

Json = dict[str, Any]


def schedule(kind: Kind, tenant: str, **spec: Any) -> Json:
    return kind.manifest(tenant, job(kind.run, tenant, run_for="300ms")["spec"], **spec)


def to_all(kind: Kind, tenant: str) -> Json:
    """The policy of all runs: nobody knows their names before."""
    found = policy(job(kind.run, tenant), "north")
    del found["spec"]["resourceSelectors"][0]["name"]
    return found


def runs(fleet: RealFleet, kind: Kind, tenant: str) -> list[str]:
    return [one["metadata"]["name"] for one in fleet.hub.items(in_namespace(KINDS[kind.run], tenant))]


@pytest.fixture
def gone_after(fleet: RealFleet, tenant: str) -> Iterator[None]:
    yield
    for kind in SCHEDULES:
        fleet.hub.delete(kind.path(tenant))


@pytest.mark.parametrize("kind", SCHEDULES, ids=[one.name for one in SCHEDULES])
@pytest.mark.usefixtures("gone_after")
def test_a_run_that_is_due_becomes_a_job_that_ends_in_a_member_and_goes_with_its_schedule(
    fleet: RealFleet, tenant: str, kind: Kind
) -> None:
    fleet.hub.apply(to_all(kind, tenant), schedule(kind, tenant))
    assert runs(fleet, kind, tenant) == []
    kind.ran_two_hours_ago(fleet.hub, tenant)
    until(lambda: runs(fleet, kind, tenant), "its run is made")
    (name,) = runs(fleet, kind, tenant)
    meant = stamp(SystemClock().now() // HOUR * HOUR)
    meta = {"name": name, "namespace": tenant}
    one = Applied(fleet, {"kind": kind.run, "apiVersion": kind.api_version, "metadata": meta})
    until(lambda: one.row().get("state") == "succeeded", "its job succeeds")
    shown = fleet.hub.get(kind.path(tenant, "tick")) or {}
    assert shown["status"][kind.last] == meant
    (owner,) = one.on_hub["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == (kind.name, shown["metadata"]["uid"], True)
    assert runs(fleet, kind, tenant) == [name], "and no other is made"
    fleet.hub.delete(kind.path(tenant, "tick"))
    until(lambda: not runs(fleet, kind, tenant), "its runs go with it")
    until(lambda: not one.is_in(), "from the member, too")


@pytest.mark.usefixtures("gone_after")
def test_what_cannot_be_read_is_said_on_the_schedule(fleet: RealFleet, tenant: str) -> None:
    fleet.hub.apply(schedule(CRON_WORKFLOW, tenant, timezone="Mars/Base"))

    def told() -> list[str]:
        found = fleet.hub.items(f"v1/namespaces/{tenant}/events")
        return [one["message"] for one in found if one["reason"] == "InvalidSchedule"]

    until(told, "an Event says so")
    assert "spec.timezone" in told()[0]
    assert "tick" not in fairway(fleet, "get", "jobs", "-n", tenant)
