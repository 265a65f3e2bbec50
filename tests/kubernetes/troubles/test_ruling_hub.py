"""A hub that runs jobs by itself: it leaves those alone that are Fairway's, and Fairway runs them elsewhere."""

from tests.kubernetes.support.fleet import in_namespace, until
from tests.kubernetes.troubles.troubled import JOBS, Troubled, job


def test_a_job_of_the_tenant_runs_in_a_member_and_never_on_the_hub(fleet: Troubled, tenant: str) -> None:
    nobodys = f"{tenant}-nobodys"
    fleet.hub.create("v1/namespaces", {"metadata": {"name": nobodys}})
    fleet.hub.create(JOBS.format(nobodys), job("theirs", run_for="never"))
    fleet.submit(tenant, "ours", ["near"], run_for="2s")
    fleet.ends(tenant, "ours")
    until(lambda: fleet.hub.pods(nobodys), "the hub's own controllers are at work")
    assert fleet.hub.pods(tenant) == []
    there = fleet.there("near", tenant, "ours")
    assert there is not None
    assert there["status"]["succeeded"] == 1
    assert "managedBy" not in there["spec"], "the member's own controller is to run it"
    shown = fleet.hub.get(in_namespace("batch/v1/jobs", tenant, "ours"))
    assert shown is not None
    assert (shown["spec"]["managedBy"], shown["status"]["succeeded"]) == ("fairway.io/fleet", 1)
    fleet.hub.delete(JOBS.format(nobodys), propagationPolicy="Background")
