"""In which namespaces of a member the cluster port puts jobs, and how those look that it makes: of the twin in memory,
of a simulated and of a real API server."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fairway.runtime.cluster_port import ClusterRefused
from tests.support import cluster_ports as houses
from tests.support.cluster_ports import House
from tests.support.simulated import JOB, job

Json = dict[str, Any]
NAMESPACE = "Namespace.v1"
ENFORCE = "pod-security.kubernetes.io/enforce"


@pytest.fixture(params=["memory", "kubesim", "direct"])
async def house(request: pytest.FixtureRequest) -> AsyncIterator[House]:
    async with houses.house(request.param) as one:
        yield one


async def labels(house: House, namespace: str) -> Json:
    found = await house.cluster.get(NAMESPACE, "", namespace) or {"metadata": {}}
    return {name: text for name, text in (found["metadata"].get("labels") or {}).items() if "metadata.name" not in name}


@pytest.mark.parametrize(
    ("level", "enforced"),
    [
        pytest.param("", "baseline", id="baseline where nobody says a level"),
        pytest.param("restricted", "restricted", id="restricted"),
        pytest.param("privileged", "privileged", id="privileged"),
    ],
)
async def test_a_namespace_that_is_made_says_whose_it_is_and_what_its_pods_may(
    house: House, level: str, enforced: str
) -> None:
    team = f"{house.team}-{level or 'plain'}"
    await house.cluster.apply(JOB, job(team), level)
    assert await labels(house, team) == {"fairway.io/tenant": team, ENFORCE: enforced}


async def test_a_namespace_of_somebody_else_is_not_used_and_not_touched(house: House) -> None:
    theirs = f"{house.team}-theirs"
    await house.behind("create", NAMESPACE, theirs, {"metadata": {"name": theirs, "labels": {"of": "them"}}})
    with pytest.raises(ClusterRefused, match=rf"no label fairway\.io/tenant: {theirs}") as refused:
        await house.cluster.apply(JOB, job(theirs))
    assert refused.value.code == "ForeignNamespace"
    assert await house.cluster.get(JOB, theirs, "train") is None
    assert await labels(house, theirs) == {"of": "them"}


async def test_a_label_that_names_another_tenant_does_not_open_a_namespace(house: House) -> None:
    other = f"{house.team}-other"
    body = {"metadata": {"name": other, "labels": {"fairway.io/tenant": house.team}}}
    await house.behind("create", NAMESPACE, other, body)
    with pytest.raises(ClusterRefused) as refused:
        await house.cluster.apply(JOB, job(other))
    assert refused.value.code == "ForeignNamespace"


@pytest.mark.parametrize("namespace", ["kube-system", "kube-made-up", "fairway-system"])
async def test_a_namespace_of_the_system_is_never_used(house: House, namespace: str) -> None:
    with pytest.raises(ClusterRefused) as refused:
        await house.cluster.apply(JOB, job(namespace))
    assert refused.value.code == "ReservedNamespace"
    assert await house.cluster.get(JOB, namespace, "train") is None


@pytest.mark.parametrize("more", ["baseline", ""])
async def test_a_namespace_is_raised_for_a_job_that_may_more_and_not_lowered_under_those_that_run(
    house: House, more: str
) -> None:
    team = f"{house.team}-raised-{more}x"
    for name, level in (("first", "restricted"), ("second", more), ("third", "restricted")):
        await house.cluster.apply(JOB, job(team, name), level)
    assert await labels(house, team) == {"fairway.io/tenant": team, ENFORCE: "baseline"}
