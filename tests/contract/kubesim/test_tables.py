"""kubesim: what `kubectl get` is told to print."""

import pytest

from tests.contract.kubesim.test_api import create, send
from tests.support.kubesim import TORCH, served, torch


async def test_kubectl_gets_a_table() -> None:
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
    async with served() as (_, client):
        await create(client, TORCH, torch("a"))
        _, table = await send(client, "GET", TORCH, headers=accept)
        assert [one["name"] for one in table["columnDefinitions"]] == ["Name", "State", "Age"]
        assert table["rows"][0]["cells"][0] == "a"


async def test_kubectl_gets_the_columns_that_a_definition_has() -> None:
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
    path = "/apis/policy.karmada.io/v1alpha1/namespaces/n/propagationpolicies"
    named = {"placement": {"clusterAffinity": {"clusterNames": ["north", "south"]}}, "priority": 7}
    async with served() as (_, client):
        await create(client, path, {"metadata": {"name": "p"}, "spec": named})
        _, table = await send(client, "GET", path, headers=accept)
        columns = [(one["name"], one["type"], one["priority"]) for one in table["columnDefinitions"]]
        assert columns == [
            ("Name", "string", 0),
            ("Ready", "string", 0),
            ("Priority", "integer", 0),
            ("Clusters", "string", 0),
            ("Age", "date", 0),
            ("Reason", "string", 1),
        ]
        assert table["rows"][0]["cells"][:4] == ["p", None, 7, '["north","south"]']


@pytest.mark.parametrize(
    ("group", "columns"),
    [
        ("scheduling.volcano.sh/v1beta1", ["STATUS", "minMember", "RUNNINGS", "AGE", "QUEUE"]),
        ("scheduling.sigs.k8s.io/v1alpha1", ["Age"]),
        ("scheduling.x-k8s.io/v1alpha1", ["Phase", "MinMember", "Running", "Succeeded", "Failed", "Age"]),
    ],
)
async def test_pod_groups_of_each_scheduler_have_the_columns_of_its_definition(group: str, columns: list[str]) -> None:
    path = f"/apis/{group}/namespaces/n/podgroups"
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
    async with served() as (_, client):
        await create(client, path, {"metadata": {"name": "g"}, "spec": {"minMember": 2}})
        _, table = await send(client, "GET", path, headers=accept)
        assert [one["name"] for one in table["columnDefinitions"]] == ["Name", *columns]
