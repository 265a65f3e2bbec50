"""A simulated cluster answers over HTTP as Kubernetes does."""

import io
import json
from typing import Any

import aiohttp
import pytest

from tests.support.kubesim import TORCH, Json, served, torch

MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
JSON = {"Content-Type": "application/json"}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


async def send(client: aiohttp.ClientSession, method: str, path: str, **given: Any) -> tuple[int, Json]:
    async with client.request(method, path, **given) as response:
        return response.status, await response.json()


async def create(client: aiohttp.ClientSession, path: str, body: Json) -> Json:
    status, answer = await send(client, "POST", path, json=body)
    assert status == 201, answer
    return answer


def config_map(name: str, labels: dict[str, str] | None = None, **metadata: Any) -> Json:
    return {"metadata": {"name": name, "labels": labels or {}, **metadata}, "data": {"a": "1"}}


MAPS = "/api/v1/namespaces/team-a/configmaps"


@pytest.mark.parametrize(
    ("method", "path", "given", "code", "reason"),
    [
        pytest.param("GET", f"{TORCH}/none", {}, 404, "NotFound", id="an object that is not there"),
        pytest.param("GET", "/apis/batch/v1/things", {}, 404, "NotFound", id="a kind that is not served"),
        pytest.param("POST", TORCH, {"json": torch("a")}, 409, "AlreadyExists", id="a name that is taken"),
        pytest.param("POST", TORCH, {"json": torch("Not_A_Name")}, 422, "Invalid", id="a name that is none"),
        pytest.param(
            "POST", MAPS, {"json": config_map("m", {"l": "x" * 64})}, 422, "Invalid", id="a label of 64 letters"
        ),
        pytest.param("POST", TORCH, {"json": {**torch("b"), "kind": "TFJob"}}, 400, "BadRequest", id="the wrong kind"),
        pytest.param(
            "POST",
            TORCH,
            {"data": b"{: [", "headers": JSON},
            400,
            "BadRequest",
            id="a body that is neither JSON nor YAML",
        ),
        pytest.param("GET", f"{TORCH}?labelSelector=a in", {}, 400, "BadRequest", id="half a label selector"),
        pytest.param(
            "GET", f"{TORCH}?fieldSelector=spec.x=1", {}, 400, "BadRequest", id="a field nobody may select by"
        ),
        pytest.param(
            "PATCH",
            f"{TORCH}/a",
            {"json": {}, "headers": STRATEGIC},
            415,
            "UnsupportedMediaType",
            id="a strategic merge patch of a custom resource",
        ),
        pytest.param(
            "PATCH", f"{TORCH}/a", {"json": {}, "headers": APPLY}, 422, "Invalid", id="an apply without manager"
        ),
        pytest.param(
            "PUT",
            f"{TORCH}/a",
            {"json": {**torch("a"), "metadata": {"name": "a", "resourceVersion": "1"}}},
            409,
            "Conflict",
            id="an update of an old version",
        ),
        pytest.param(
            "DELETE",
            f"{TORCH}/a",
            {"json": {"preconditions": {"uid": "other"}}},
            409,
            "Conflict",
            id="a delete of another object of that name",
        ),
        pytest.param("DELETE", f"{TORCH}/a?propagationPolicy=x", {}, 422, "Invalid", id="an unknown policy"),
        pytest.param("GET", f"{TORCH}?continue=nonsense", {}, 400, "BadRequest", id="a page token that is none"),
        pytest.param("PATCH", TORCH, {"json": {}, "headers": MERGE}, 405, "MethodNotAllowed", id="a patch of a list"),
    ],
)
async def test_refuses_as_kubernetes_does(method: str, path: str, given: Json, code: int, reason: str) -> None:
    async with served() as (_, client):
        await create(client, TORCH, torch("a"))
        status, answer = await send(client, method, path, **given)
        assert (status, answer["kind"], answer["reason"], answer["code"]) == (code, "Status", reason, code)


async def test_a_body_over_three_mebibytes_is_refused() -> None:
    async with served() as (_, client):
        status, answer = await send(client, "POST", MAPS, data=io.BytesIO(b'"' + b"x" * (3 << 20) + b'"'), headers=JSON)
        assert (status, answer["reason"]) == (413, "RequestEntityTooLarge")


async def test_generation_counts_changes_of_the_spec_only() -> None:
    async with served() as (_, client):
        first = await create(client, TORCH, torch("a"))
        path = f"{TORCH}/a"
        _, labelled = await send(client, "PATCH", path, json={"metadata": {"labels": {"l": "1"}}}, headers=MERGE)
        _, suspended = await send(client, "PATCH", path, json={"spec": {"runPolicy": {"suspend": True}}}, headers=MERGE)
        _, again = await send(client, "PATCH", path, json={"spec": {"runPolicy": {"suspend": True}}}, headers=MERGE)
        generations = [one["metadata"]["generation"] for one in (first, labelled, suspended)]
        assert generations == [1, 1, 2]
        assert again["metadata"]["resourceVersion"] == suspended["metadata"]["resourceVersion"]


async def test_status_changes_only_through_its_subresource() -> None:
    async with served() as (_, client):
        await create(client, TORCH, {**torch("a"), "status": {"x": 1}})
        body = {"status": {"x": 2}, "spec": {"gone": True}}
        _, plain = await send(client, "PATCH", f"{TORCH}/a", json={"status": {"x": 2}}, headers=MERGE)
        _, through = await send(client, "PATCH", f"{TORCH}/a/status", json=body, headers=MERGE)
        assert "status" not in plain
        assert through["status"] == {"x": 2}
        assert "gone" not in through["spec"]


@pytest.mark.parametrize(
    ("headers", "patch", "want"),
    [
        pytest.param(MERGE, {"data": {"a": None, "b": "2"}}, {"b": "2"}, id="merge: null removes"),
        pytest.param(
            JSON_PATCH,
            [{"op": "test", "path": "/data/a", "value": "1"}, {"op": "move", "from": "/data/a", "path": "/data/c"}],
            {"c": "1"},
            id="JSON patch: test and move",
        ),
        pytest.param(STRATEGIC, {"data": {"$patch": "replace", "z": "9"}}, {"z": "9"}, id="strategic: replace"),
    ],
)
async def test_patches(headers: Json, patch: Any, want: Json) -> None:
    async with served() as (_, client):
        await create(client, MAPS, config_map("m"))
        status, answer = await send(client, "PATCH", f"{MAPS}/m", data=json.dumps(patch), headers=headers)
        assert (status, answer["data"]) == (200, want)


async def test_lists_by_labels_and_fields_page_by_page() -> None:
    async with served() as (_, client):
        for name, tier in (("a", "x"), ("b", "y"), ("c", "x"), ("d", "z")):
            await create(client, MAPS, config_map(name, {"tier": tier}))

        async def names(query: str) -> list[str]:
            _, found = await send(client, "GET", f"{MAPS}?{query}")
            return [one["metadata"]["name"] for one in found["items"]]

        assert await names("labelSelector=tier=x") == ["a", "c"]
        assert await names("labelSelector=tier notin (x,y),tier") == ["d"]
        assert await names("labelSelector=!tier") == []
        assert await names("fieldSelector=metadata.name=b") == ["b"]
        _, first = await send(client, "GET", f"{MAPS}?limit=3")
        _, rest = await send(client, "GET", f"{MAPS}?limit=3&continue={first['metadata']['continue']}")
        assert [len(first["items"]), first["metadata"]["remainingItemCount"], len(rest["items"])] == [3, 1, 1]
        assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_server_side_apply_creates_merges_removes_and_finds_conflicts() -> None:
    async with served() as (_, client):

        async def apply(manager: str, data: Json, force: str = "false") -> tuple[int, Json]:
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data}
            query = f"?fieldManager={manager}&force={force}"
            return await send(client, "PATCH", f"{MAPS}/m{query}", data=json.dumps(body), headers=APPLY)

        assert (await apply("one", {"a": "1", "b": "1"}))[0] == 201
        status, merged = await apply("two", {"c": "3"})
        assert (status, merged["data"]) == (200, {"a": "1", "b": "1", "c": "3"})
        _, again = await apply("two", {"c": "3"})
        assert again["metadata"]["resourceVersion"] == merged["metadata"]["resourceVersion"]
        _, less = await apply("one", {"a": "1"})
        assert less["data"] == {"a": "1", "c": "3"}
        status, refused = await apply("two", {"a": "2"})
        assert (status, refused["reason"]) == (409, "Conflict")
        assert refused["details"]["causes"][0]["field"] == ".data.a"
        _, forced = await apply("two", {"a": "2"}, force="true")
        assert forced["data"] == {"a": "2"}
        managers = {one["manager"] for one in forced["metadata"]["managedFields"]}
        assert managers == {"one", "two"}


async def test_a_dry_run_changes_nothing() -> None:
    async with served() as (_, client):
        status, _ = await send(client, "POST", f"{TORCH}?dryRun=All", json=torch("a"))
        gone, _ = await send(client, "GET", f"{TORCH}/a")
        assert (status, gone) == (201, 404)


async def test_a_crd_adds_its_kind_and_takes_it_along() -> None:
    names = {"kind": "Widget", "plural": "widgets"}
    versions = [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}]
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": versions}
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    widgets = "/apis/example.com/v1"
    async with served() as (_, client):
        await create(client, crds, {"metadata": {"name": "widgets.example.com"}, "spec": spec})
        await create(client, f"{widgets}/namespaces/n/widgets", {"metadata": {"name": "w"}})
        _, listed = await send(client, "GET", widgets)
        assert [one["name"] for one in listed["resources"]] == ["widgets", "widgets/status"]
        await send(client, "DELETE", f"{crds}/widgets.example.com")
        async with client.get(f"{widgets}/widgets") as response:
            assert (response.status, await response.text()) == (404, "404 page not found\n")


async def test_both_versions_of_a_kind_show_the_same_object() -> None:
    async with served() as (_, client):
        path = "/apis/kubeflow.org/{}/namespaces/n/mpijobs"
        await create(client, path.format("v2beta1"), {"metadata": {"name": "m"}, "spec": {}})
        _, other = await send(client, "GET", path.format("v1") + "/m")
        assert other["apiVersion"] == "kubeflow.org/v1"


async def test_discovery_names_every_kind_in_both_forms() -> None:
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    async with served() as (_, client):
        _, groups = await send(client, "GET", "/apis")
        async with client.get("/apis", headers={"Accept": aggregated}) as response:
            found = await response.json()
            assert response.headers["Content-Type"] == aggregated
        names = {one["name"] for one in groups["groups"]}
        assert names == {one["metadata"]["name"] for one in found["items"]}
        assert {"kubeflow.org", "batch.volcano.sh", "policy.one.alibabacloud.com", "ray.io"} <= names
