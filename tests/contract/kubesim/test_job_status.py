"""The simulator judges a batch Job's status as a real API server does (tests/kubernetes asks one the same)."""

import pytest

from tests.cases.job_statuses import CHANGES, Change, manifest
from tests.support.kubesim import served

JOBS = "/apis/batch/v1/namespaces/team-a/jobs"


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
async def test_it_takes_and_refuses_what_kubernetes_does(change: Change) -> None:
    headers = {"Content-Type": "application/json-patch+json"}
    async with served() as (_, client):
        async with client.post(JOBS, json={**manifest("a", **(change.spec or {})), "status": change.before}) as answer:
            assert "status" not in await answer.json(), "a status cannot be created"
        for status, refusal in ((change.before, ""), (change.after, change.refusal)):
            steps = [{"op": "add", "path": "/status", "value": status}]
            async with client.patch(f"{JOBS}/a/status", json=steps, headers=headers) as answer:
                said = (await answer.json()).get("message", "")
                assert answer.status == (422 if refusal else 200), said
                assert refusal in said
