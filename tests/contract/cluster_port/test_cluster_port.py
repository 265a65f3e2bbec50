"""The cluster port: whatever its docstrings promise, of the twin in memory, of a simulated and of a real API server."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fairway.runtime.cluster_port import Applied, ClusterRefused
from fairway.runtime.ports import Unreachable
from tests.support import cluster_ports as houses
from tests.support.cluster_ports import House
from tests.support.simulated import JOB, OURS, config_map, job

Json = dict[str, Any]


@pytest.fixture(params=["memory", "kubesim", "direct", "hub"])
async def house(request: pytest.FixtureRequest) -> AsyncIterator[House]:
    async with houses.house(request.param) as one:
        yield one


async def test_an_object_is_applied_once_and_found_as_its_own_the_second_time(house: House) -> None:
    first = await house.cluster.apply(JOB, job(house.team))
    assert first == Applied(first.uid) and first.uid
    assert await house.cluster.apply(JOB, job(house.team)) == Applied(first.uid, adopted=True)


@pytest.mark.parametrize(
    ("there", "code"),
    [
        pytest.param({}, "NameConflict", id="an object without our label"),
        pytest.param({"fairway.io/job": "j2"}, "NameConflict", id="an object of another job"),
        pytest.param(OURS | {"fairway.io/attempt": "7"}, "StaleObject", id="an object of another attempt"),
    ],
)
async def test_an_object_that_is_not_this_attempts_is_refused_and_not_touched(
    house: House, there: Json, code: str
) -> None:
    await house.cluster.apply(JOB, job(house.team, "other"))  # so that the namespace is there, and its tenant's
    await house.cluster.create(JOB, job(house.team, labels=there))
    before = await house.cluster.get(JOB, house.team, "train") or {}
    with pytest.raises(ClusterRefused) as refused:
        await house.cluster.apply(JOB, job(house.team))
    assert refused.value.code == code
    after = await house.cluster.get(JOB, house.team, "train") or {}
    # Its controller may have written its status meanwhile.
    marks = ("uid", "generation", "labels")
    assert [after["metadata"].get(one) for one in marks] == [before["metadata"].get(one) for one in marks]
    assert after["spec"] == before["spec"]


async def test_a_kind_that_is_not_served_is_refused_with_what_to_do(house: House) -> None:
    with pytest.raises(ClusterRefused, match="install its operator") as refused:
        await house.cluster.apply("Absent.example.org/v1", job(house.team))
    assert refused.value.code == "KindNotServed"


async def test_only_kinds_that_are_served_are_said_to_be(house: House) -> None:
    assert await house.cluster.served() == house.served


async def test_an_object_of_another_attempt_is_not_deleted(house: House) -> None:
    await house.cluster.apply(JOB, job(house.team, labels=OURS | {"fairway.io/attempt": "2"}))
    assert await house.cluster.delete(JOB, house.team, "train", OURS, wait_s=5)
    assert await house.cluster.get(JOB, house.team, "train") is not None


async def test_a_deletion_without_labels_is_refused(house: House) -> None:
    with pytest.raises(ValueError, match="name the job"):
        await house.cluster.delete(JOB, house.team, "train", {}, wait_s=1)


@pytest.mark.parametrize("mode", ["503", "reset"])
async def test_an_api_that_is_away_leaves_the_outcome_unknown(house: House, mode: str) -> None:
    house.refuse(mode)
    cluster = house.cluster
    team = house.team
    for call in (
        cluster.apply(JOB, job(team)),
        cluster.delete(JOB, team, "train", OURS, 1),
        cluster.served(),
        cluster.get(JOB, team, "train"),
        cluster.patch(JOB, team, "train", {}),
    ):
        with pytest.raises(Unreachable, match=cluster.name):
            await call


async def test_an_object_that_is_there_cannot_be_created_again(house: House) -> None:
    await house.cluster.create("ConfigMap.v1", config_map(house.team, "a"))
    with pytest.raises(ClusterRefused) as refused:
        await house.cluster.create("ConfigMap.v1", config_map(house.team, "a"))
    assert refused.value.code == "AlreadyExists"
