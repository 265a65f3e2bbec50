"""Settings over HTTP: what is taken, what is refused, and what may stand in the place of what."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from fairway.runtime.ports import Outgoing
from fairway.wire import fleet, subjects
from fairway.workloads.settings.policy_limits import PolicySize
from tests.support.http_door import POLICY, House, job, opened


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


def queue(policy: str = "Block", namespace: str = "kube-queue") -> dict[str, Any]:
    meta = {"name": "gold", "namespace": namespace}
    kind = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "Queue"}
    return {**kind, "metadata": meta, "spec": {"queuePolicy": policy}}


def tree(name: str, namespace: str = "kube-system") -> dict[str, Any]:
    root = {"name": "root", "min": {"cpu": "4"}, "max": {"cpu": "4"}}
    kind = {"apiVersion": "scheduling.sigs.k8s.io/v1beta1", "kind": "ElasticQuotaTree"}
    return {**kind, "metadata": {"name": name, "namespace": namespace}, "spec": {"root": root}}


def profile(**spec: Any) -> dict[str, Any]:
    head = {"apiVersion": "fairway.io/v1alpha1", "kind": "TenantProfile", "metadata": {"name": "a"}}
    return {**head, "spec": {"namespaces": ["team-a"], **spec}}


def large(names: int, name: str = "large", **selector: Any) -> dict[str, Any]:
    """A policy for clusters of so many names."""
    placement = {"clusterAffinity": {"clusterNames": ["north"] * names}}
    entries = [{"apiVersion": "batch/v1", "kind": "Job", **selector}]
    meta = {"name": name, "namespace": "team-a"}
    return {**POLICY, "metadata": meta, "spec": {"resourceSelectors": entries, "placement": placement}}


async def settings(house: House) -> list[tuple[str, str]]:
    said = [msgspec.json.decode(one.data) async for one in house.bus.history("CONFIG")]
    return [(one["kind"], one["name"]) for one in said]


async def test_a_setting_is_in_force_when_it_is_stored(house: House) -> None:
    got = await house.http.post("/v1/settings", json=queue())
    assert (got.status_code, got.json()) == (200, {"kind": "Queue", "namespace": "kube-queue", "name": "gold"})
    assert await settings(house) == [("Queue", "gold")]


async def test_what_of_a_setting_has_no_effect_is_said(house: House) -> None:
    body = queue()
    body["spec"]["admissionChecks"] = [{"name": "x"}]
    got = await house.http.post("/v1/settings", json=body)
    said = "without effect: spec.admissionChecks (jobs are let go without such checks)"
    assert (got.status_code, got.json()["warnings"]) == (200, [said])


@pytest.mark.parametrize(
    ("body", "title"),
    [
        pytest.param(
            {**queue(), "spec": {"queuePolicey": "Block"}}, "spec.queuePolicey: is not a known", id="a misspelt field"
        ),
        pytest.param(queue("Fair"), "spec.queuePolicy: is 'Fair'", id="a queue of an unknown policy"),
        pytest.param(queue(namespace="team-a"), "metadata.namespace: Queue team-a", id="a queue of a tenant's"),
        pytest.param(tree("t", "team-a"), "metadata.namespace: ElasticQuota", id="a tree of a tenant's"),
        pytest.param(profile(namespaces=[]), "spec.namespaces: is empty", id="a profile of nobody"),
        pytest.param(job(), "kind: Job.batch/v1 is not a setting", id="a job"),
        pytest.param(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}},
            "kind: Namespace.v1 is not a setting",
            id="a namespace and its labels",
        ),
        pytest.param({**queue(), "metadata": {}}, "metadata.name: is missing", id="an object without a name"),
        pytest.param({**queue(), "metadata": []}, "metadata.name: is missing", id="an object whose metadata is a list"),
    ],
)
async def test_a_setting_that_cannot_be_taken_changes_nothing(house: House, body: Any, title: str) -> None:
    got = await house.http.post("/v1/settings", json=body)
    assert (got.status_code, got.json()["title"].startswith(title)) == (422, True), got.json()
    assert await settings(house) == []


async def test_there_is_one_quota_tree_and_it_can_be_changed(house: House) -> None:
    answers = [await house.http.post("/v1/settings", json=tree(name)) for name in ("a", "a", "b")]
    assert [one.status_code for one in answers] == [200, 200, 422]
    assert "is in force" in answers[2].json()["title"]


async def test_no_setting_takes_the_place_of_another_over_http(house: House) -> None:
    """A Block queue does not become Priority by a Queue of its name from another namespace."""
    assert (await house.http.post("/v1/settings", json=queue("Block"))).status_code == 200
    got = await house.http.post("/v1/settings", json=queue("Priority", "kube-system"))
    assert (got.status_code, got.json()["code"]) == (422, "AnotherInForce")
    assert (await house.http.post("/v1/settings", json=queue("Priority"))).status_code == 200
    one = {**POLICY, "apiVersion": "policy.one.alibabacloud.com/v1alpha1"}
    answers = [await house.http.post("/v1/settings", json=body) for body in (POLICY, one)]
    assert [answer.status_code for answer in answers] == [200, 422]
    assert await settings(house) == [("Queue", "gold"), ("Queue", "gold"), ("PropagationPolicy", "train")]


async def test_what_a_tenant_had_put_there_before_gives_way_to_its_place(house: House) -> None:
    said = fleet.Configured(kind="Queue", namespace="team-a", name="gold", manifest=msgspec.Raw(b'{"apiVersion":"x"}'))
    subject = subjects.config("Queue", "team-a", "gold")
    await house.bus.publish([Outgoing("old", subject, msgspec.json.encode(said))])
    assert (await house.http.post("/v1/settings", json=queue("Priority"))).status_code == 200
    words = [msgspec.json.decode(one.data) async for one in house.bus.history("CONFIG")]
    assert [(one["namespace"], bool(one.get("manifest"))) for one in words][1:] == [
        ("team-a", False),
        ("kube-queue", True),
    ]


async def test_a_profile_is_set_without_a_namespace(house: House) -> None:
    got = await house.http.post("/v1/settings", json=profile(queues=["gold"]))
    assert (got.status_code, got.json()) == (200, {"kind": "TenantProfile", "namespace": "", "name": "a"})


async def test_a_namespace_has_so_many_policies_and_then_none_more_until_one_goes(house: House) -> None:
    for number in range(40):
        house.catalog.policies.together.put(("PropagationPolicy", "team-a", f"p{number}"), PolicySize(100, 500))
    selector = {"labelSelector": {"matchLabels": {"a": "b"}}}
    got = await house.http.post("/v1/settings", json=large(1, **selector))
    assert (got.status_code, got.json()["code"]) == (422, "TooManyPolicies")
    assert got.json()["reasons"][0]["field"] == "metadata.namespace"
    elsewhere = {**large(1, **selector), "metadata": {"name": "p", "namespace": "team-b"}}
    assert (await house.http.post("/v1/settings", json=elsewhere)).status_code == 200
    house.catalog.policies.together.drop(("PropagationPolicy", "team-a", "p0"))
    assert (await house.http.post("/v1/settings", json=large(1, **selector))).status_code == 200


async def test_a_policy_that_is_too_large_changes_nothing(house: House) -> None:
    got = await house.http.post("/v1/settings", json=large(6_000))
    said = got.json()
    assert (got.status_code, said["code"], said["reasons"][0]["field"]) == (413, "TooLarge", "spec")
    assert said["title"].startswith("spec: the policy has more than 5000 fields and values")
    assert await settings(house) == []


async def test_what_was_taken_a_moment_ago_counts(house: House) -> None:
    house.catalog.policies.together.put(("PropagationPolicy", "team-a", "p"), PolicySize(100, 19_999))
    answers = [await house.http.post("/v1/settings", json=large(1, name)) for name in ("a", "b", "a")]
    assert [one.status_code for one in answers] == [200, 422, 200]
