"""A hub whose controllers make the runs of CronJobs: each is taken as a job, and none is made twice."""

from typing import Any

from tests.kubernetes.hub.schedule_kinds import CRON_JOB
from tests.kubernetes.support.fleet import until
from tests.kubernetes.troubles.troubled import JOBS, POLICIES, Troubled, job, ours, policy

CONTROLLER = "kube-controller-manager"


def test_what_the_controller_makes_runs_in_a_member_and_fairway_makes_no_other(fleet: Troubled, tenant: str) -> None:
    everything = policy("all", ["near"])
    del everything["spec"]["resourceSelectors"][0]["name"]
    fleet.hub.create(POLICIES.format(tenant), everything)
    spec = ours(job("x", run_for="200ms"))["spec"]
    fleet.hub.create(CRON_JOB.path(tenant), CRON_JOB.manifest(tenant, spec))
    CRON_JOB.ran_two_hours_ago(fleet.hub, tenant)

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
        found = fleet.hub.get(CRON_JOB.path(tenant, "tick")) or {}
        return (found.get("status") or {}).get("lastSuccessfulTime")

    until(shown, "the controller sees that it went well")
    fleet.hub.delete(CRON_JOB.path(tenant), propagationPolicy="Background")
    until(lambda: not runs(), "its garbage collection takes the run away")
    until(lambda: not fleet.where(tenant, name), "and Fairway that in the member")
