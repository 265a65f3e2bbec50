"""A hub whose controllers make the runs of CronJobs: each is taken as a job, and none is made twice."""

from typing import Any

from fairway.adapters.system_clock import SystemClock
from fairway.workloads.schedules.schedule import stamp
from tests.kubernetes.support.fleet import in_namespace, until
from tests.kubernetes.troubles.troubled import JOBS, POLICIES, Troubled, job, ours, policy

CRONS = "batch/v1/namespaces/{}/cronjobs"
CONTROLLER = "kube-controller-manager"


def test_what_the_controller_makes_runs_in_a_member_and_fairway_makes_no_other(fleet: Troubled, tenant: str) -> None:
    everything = policy("all", ["near"])
    del everything["spec"]["resourceSelectors"][0]["name"]
    fleet.hub.create(POLICIES.format(tenant), everything)
    spec = ours(job("x", run_for="200ms"))["spec"]
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick"},
        "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": spec}},
    }
    fleet.hub.create(CRONS.format(tenant), cron)
    at = stamp(SystemClock().now() - 7_200_000)
    fleet.hub.patch(f"{CRONS.format(tenant)}/tick/status", {"status": {"lastScheduleTime": at}})

    def runs() -> list[dict[str, Any]]:
        return fleet.hub.items(JOBS.format(tenant))

    until(runs, "the controller makes the run")
    (one,) = runs()
    name = one["metadata"]["name"]
    fleet.ends(tenant, name)
    assert [each["metadata"]["name"] for each in runs()] == [name]
    managers = {each["manager"] for each in one["metadata"]["managedFields"]}
    assert CONTROLLER in managers, "it was faster than Fairway, which waits for it"

    def shown() -> Any:
        found = fleet.hub.get(f"{CRONS.format(tenant)}/tick") or {}
        return (found.get("status") or {}).get("lastSuccessfulTime")

    until(shown, "the controller sees that it went well")
    fleet.hub.delete(CRONS.format(tenant), propagationPolicy="Background")
    until(lambda: not runs(), "its garbage collection takes the run away")
    until(lambda: not fleet.where(tenant, name), "and Fairway that in the member")
    assert fleet.hub.get(in_namespace("batch/v1/cronjobs", tenant, "tick")) is None
