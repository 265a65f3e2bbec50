"""Over HTTP: what a job names counts only if its namespace may name it. A dry run asks as admission does."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from fairway.admission.understand import understand
from fairway.wire import fleet
from tests.support.http_door import NO_POLICIES, POLICY, House, job, opened

LEAF = "quota.scheduling.koordinator.sh/name"
ALLOW = "fairway.io/allow-namespaces"
TREE: dict[str, Any] = {
    "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
    "kind": "ElasticQuotaTree",
    "metadata": {"name": "tree", "namespace": "kube-system"},
    "spec": {
        "root": {
            "name": "root",
            "children": [
                {"name": "mine", "namespaces": ["team-a"]},
                {"name": "theirs", "namespaces": ["team-b"]},
            ],
        }
    },
}
QUEUE: dict[str, Any] = {
    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
    "kind": "Queue",
    "spec": {},
    "metadata": {"name": "gold", "namespace": "kube-queue", "annotations": {ALLOW: "team-b"}},
}
PIN = {**POLICY, "kind": "ClusterPropagationPolicy", "metadata": {"name": "pin"}}
THEIRS = {**POLICY, "metadata": {"name": "train", "namespace": "team-b"}}
SYSTEMS = {**POLICY, "metadata": {"name": "train", "namespace": "kube-system"}}


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        for body in (TREE, QUEUE):
            raw = msgspec.Raw(msgspec.json.encode(body))
            one.catalog.take(fleet.Configured(kind=body["kind"], name=body["metadata"]["name"], manifest=raw))
        yield one


HOSTILE: dict[str, tuple[dict[str, Any], list[dict[str, Any]], str, str]] = {
    "another's leaf": (job(labels={LEAF: "theirs"}), [POLICY], "NotYourQuota", f"metadata.labels['{LEAF}']"),
    "another's queue": (
        job(annotations={"kube-queue/queue-name": "gold"}),
        [POLICY],
        "NotYourQuota",
        "metadata.annotations[kube-queue/queue-name]",
    ),
    "a policy for the whole fleet": (job(), [PIN], "Forbidden", "policies[0]"),
    "a policy of another namespace, behind its own": (job(), [POLICY, THEIRS], "Forbidden", "policies[1]"),
    "a namespace of the system": (
        job(namespace="kube-system"),
        [SYSTEMS],
        "ReservedNamespace",
        "metadata.namespace",
    ),
}


@pytest.mark.parametrize(("manifest", "policies", "code", "field"), HOSTILE.values(), ids=list(HOSTILE))
async def test_it_is_refused(house: House, manifest: Any, policies: Any, code: str, field: str) -> None:
    body = {"manifest": manifest, "policies": policies}
    answer = (await house.http.post("/v1/jobs?dryRun=true", json=body)).json()
    assert (answer["accepted"], [(one["code"], one["field"]) for one in answer["reasons"]]) == (False, [(code, field)])
    assert answer["reasons"][0]["remedy"]


async def test_what_is_its_own_is_accepted(house: House) -> None:
    body = {"manifest": job(labels={LEAF: "mine"}), "policies": [POLICY]}
    assert (await house.http.post("/v1/jobs?dryRun=true", json=body)).json()["accepted"]


async def test_admission_is_told_the_same_of_a_job_that_was_let_in(house: House) -> None:
    """The door lets it in: what decides is what admission reads."""
    got = await house.http.post("/v1/jobs", json={"manifest": job(), "policies": [PIN]})
    (said,) = await house.submitted()
    assert (got.status_code, [one.code for one in understand(said, "m", 1, house.catalog).reasons]) == (
        202,
        ["Forbidden"],
    )


async def test_policies_come_along_only_with_who_may_create_them(house: House) -> None:
    async with house.client(NO_POLICIES) as client:
        got = await client.post("/v1/jobs", json={"manifest": job(), "policies": [POLICY]})
        assert (got.status_code, got.json()["code"]) == (403, "Forbidden")
        assert "create propagationpolicies.policy.karmada.io in namespace team-a" in got.json()["title"]
        assert (await client.post("/v1/jobs", json={"manifest": job()})).status_code == 202
