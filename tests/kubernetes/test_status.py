"""What the hub shows of a job is what its cluster shows, as if it ran here; and only an end is shown as an end."""

from typing import Any

import pytest

from tests.cases.job_statuses import CHANGES, Change, manifest
from tests.kubernetes.support.fleet import RealFleet, condition, in_namespace, until
from tests.kubernetes.support.own import Own
from tests.kubernetes.support.tries import Json, Watch, job, tried

JOBS = "batch/v1/jobs"
STEPS = "application/json-patch+json"
ENDS = {"Job": "Complete", "PyTorchJob": "Succeeded", "JobSet": "Completed"}


@pytest.mark.parametrize("kind", ENDS)
def test_kubectl_waits_on_the_hub_as_if_the_job_ran_there(fleet: RealFleet, tenant: str, kind: str) -> None:
    one = tried(fleet, job(kind, tenant, run_for="3s"), "north")
    what = (f"{one.kind.lower()}s/try", "-n", tenant, "--timeout=90s")
    fleet.hub.kubectl("wait", f"--for=condition={ENDS[kind]}", *what)
    assert not fleet.hub.pods(tenant)
    shown = ("startTime", "conditions", "succeeded", "replicaStatuses", "terminalState", "completionTime")

    def alike() -> bool:
        """A PyTorchJob has succeeded with its master, and tells of its workers after that."""
        there = fleet.members["north"].job(kind, tenant, "try")
        here = one.on_hub
        assert there is not None
        return [here["status"].get(name) for name in shown] == [there["status"].get(name) for name in shown]

    until(alike, "the hub shows what the member does")


def test_the_counts_of_running_pods_are_seen_on_the_hub(fleet: RealFleet, tenant: str) -> None:
    tried(fleet, job("Job", tenant), "north")
    what = ("jobs/try", "-n", tenant, "--timeout=90s")
    fleet.hub.kubectl("wait", "--for=jsonpath={.status.ready}=2", *what)
    assert "0/2" in fleet.hub.kubectl("get", "jobs", "-n", tenant)


def bad(kind: str, status: Json) -> list[str]:
    """What would tell somebody that the job has failed."""
    if kind == "Workflow":
        return [status["phase"]] if status.get("phase") in ("Failed", "Error") else []
    if kind == "SparkApplication":
        state = (status.get("applicationState") or {}).get("state")
        return [state] if state == "FAILED" else []
    whole = {"status": status}
    return [one for one in ("Failed", "FailureTarget") if condition(whole, one) == "True"]


FINE = {**ENDS, "Workflow": "Succeeded", "SparkApplication": "COMPLETED"}


@pytest.mark.parametrize("kind", ["Job", "PyTorchJob", "SparkApplication"])
def test_a_failed_attempt_never_shows_as_an_end_while_another_one_follows(
    fleet: RealFleet, tenant: str, kind: str
) -> None:
    watch = Watch(fleet.hub, kind, tenant)
    one = tried(fleet, job(kind, tenant, run_for="2s", fail_in_cluster="north"), "north", "west")
    until(lambda: one.phase() == FINE[kind], f"{kind} ends well in west", 120)
    seen = watch.end()
    assert [bad(kind, status) for status in seen if bad(kind, status)] == []
    assert '"west"' in one.story()
    starts = {status["startTime"] for status in seen if status.get("startTime")}
    assert kind != "Job" or len(starts) == 1
    one.is_gone_from("north")


LAST: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "it fails, and the member says why": ({"run_for": "1s", "exit_code": "3"}, {}, "BackoffLimitExceeded"),
    "it never starts": ({"never_start_in_cluster": "north"}, {"start": "3s"}, "StartTimeout"),
}


@pytest.mark.parametrize(("how", "given", "reason"), LAST.values(), ids=list(LAST))
def test_the_last_attempts_end_is_the_end(
    fleet: RealFleet, tenant: str, how: dict[str, str], given: dict[str, Any], reason: str
) -> None:
    tried(fleet, job("Job", tenant, **how), "north", attempts=1, **given)
    fleet.hub.kubectl("wait", "--for=condition=Failed", "jobs/try", "-n", tenant, "--timeout=90s")
    found = fleet.hub.job("Job", tenant, "try") or {}
    assert {one["reason"] for one in found["status"]["conditions"] if one["type"] == "Failed"} == {reason}


def test_an_appwrapper_fails_when_its_controller_tries_it_no_more(fleet: RealFleet, tenant: str) -> None:
    what = job("AppWrapper", tenant, run_for="1s", exit_code="3")
    what["metadata"]["annotations"] = {"workload.codeflare.dev.appwrapper/retryLimit": "0"}
    tried(fleet, what, "north", attempts=1)
    fleet.hub.kubectl("wait", "--for=jsonpath={.status.phase}=Failed", "appwrappers/try", "-n", tenant, "--timeout=90s")
    found = fleet.hub.job("AppWrapper", tenant, "try")
    assert condition(found, "Unhealthy") == "True"


def test_a_refused_job_has_failed_on_the_hub_with_the_reason(fleet: RealFleet, tenant: str) -> None:
    unsafe = job("Job", tenant)
    unsafe["spec"]["template"]["spec"]["hostNetwork"] = True
    tried(fleet, unsafe, "north")
    fleet.hub.kubectl("wait", "--for=condition=Failed", "jobs/try", "-n", tenant, "--timeout=90s")
    found = fleet.hub.job("Job", tenant, "try") or {}
    assert {one["reason"] for one in found["status"]["conditions"]} == {"UnsafePod"}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_an_api_server_judges_a_jobs_status_as_the_table_says(own: Own, change: Change) -> None:
    hub = own.api("hub")
    made = hub.create(in_namespace(JOBS, "default"), {**manifest("x", **(change.spec or {})), **_generated()})
    path = f"/apis/{in_namespace(JOBS, 'default', made['metadata']['name'])}"
    for status, refusal in ((change.before, ""), (change.after, change.refusal)):
        steps = [{"op": "add", "path": "/status", "value": status}]
        answer = hub.http.patch(f"{path}/status", json=steps, headers={"Content-Type": STEPS})
        assert answer.status_code == (422 if refusal else 200), answer.text
        assert refusal in str(answer.json())  # in JSON a server writes > as an escape


def _generated() -> Json:
    return {"metadata": {"generateName": "status-"}}
