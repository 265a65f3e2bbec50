"""The simulator judges the status of a batch Job, and of a Pod that a gate keeps back, as a real API server does
(tests/kubernetes asks one the same)."""

import pytest

from tests.cases import job_statuses, pod_statuses
from tests.cases.job_statuses import Change, Json
from tests.support.kubesim import served

JOBS = "/apis/batch/v1/namespaces/team-a/jobs"
PODS = "/api/v1/namespaces/team-a/pods"
HEADERS = {"Content-Type": "application/json-patch+json"}


@pytest.mark.parametrize("change", job_statuses.CHANGES.values(), ids=list(job_statuses.CHANGES))
async def test_it_takes_and_refuses_what_kubernetes_does(change: Change) -> None:
    made = await judged(JOBS, job_statuses.manifest("a", **(change.spec or {})), change)
    assert "status" not in made, "a status cannot be created"


@pytest.mark.parametrize("change", pod_statuses.CHANGES.values(), ids=list(pod_statuses.CHANGES))
async def test_of_a_pod_too(change: Change) -> None:
    made = await judged(PODS, pod_statuses.manifest("a", **(change.spec or {})), change)
    (condition,) = made["status"]["conditions"]
    assert (made["status"]["phase"], condition["reason"]) == ("Pending", "SchedulingGated")


async def judged(path: str, manifest: Json, change: Change) -> Json:
    """The object as it was made, once both statuses were written."""
    async with served() as (_, client):
        async with client.post(path, json={**manifest, "status": change.before}) as answer:
            made: Json = await answer.json()
        for status, refusal in ((change.before, ""), (change.after, change.refusal)):
            steps = [{"op": "add", "path": "/status", "value": status}]
            async with client.patch(f"{path}/a/status", json=steps, headers=HEADERS) as answer:
                said = (await answer.json()).get("message", "")
                assert answer.status == (422 if refusal else 200), said
                assert refusal in said
        return made
