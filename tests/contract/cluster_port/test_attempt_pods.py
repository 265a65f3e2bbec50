"""The cluster port and the pods of an attempt that ends: told when, and bounded in how long they take."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.contract.cluster_port.test_servers import SPEC, running
from tests.support import cluster_ports as houses
from tests.support.cluster_ports import House
from tests.support.simulated import JOB, OURS, POD, job

NOTES = {"fairway.io/evict-at": "2026-01-02T03:04:05Z"}


@pytest.fixture(params=["kubesim", "direct"])
async def house(request: pytest.FixtureRequest) -> AsyncIterator[House]:
    async with houses.house(request.param) as one:
        yield one


async def pod(house: House, name: str) -> dict[str, Any]:
    found = await house.cluster.get(POD, house.team, name)
    assert found is not None
    return dict(found["metadata"])


async def test_all_pods_that_carry_the_labels_are_marked_once(house: House) -> None:
    for name, labels in (("one", OURS), ("two", OURS), ("other", OURS | {"fairway.io/attempt": "2"})):
        meta = {"name": name, "namespace": house.team, "labels": labels, "annotations": {"a": "b"}}
        await house.cluster.create(POD, {"metadata": meta, "spec": SPEC})
    await house.cluster.mark_pods(house.team, OURS, NOTES)
    found = {name: await pod(house, name) for name in ("one", "two", "other")}
    assert {name: meta["annotations"] for name, meta in found.items()} == {
        "one": {"a": "b"} | NOTES,
        "two": {"a": "b"} | NOTES,
        "other": {"a": "b"},
    }
    await house.cluster.mark_pods(house.team, OURS, NOTES)
    assert (await pod(house, "one"))["resourceVersion"] == found["one"]["resourceVersion"]


async def test_where_there_are_none_none_is_marked_or_hastened(house: House) -> None:
    await house.cluster.mark_pods(house.team, OURS, NOTES)
    await house.cluster.shorten(house.team, OURS, 1)


async def test_without_labels_nothing_is_done(house: House) -> None:
    with pytest.raises(ValueError, match="name the job"):
        await house.cluster.mark_pods(house.team, {}, NOTES)
    with pytest.raises(ValueError, match="name the job"):
        await house.cluster.shorten(house.team, {}, 1)


async def test_a_pod_that_takes_its_time_is_hastened_once_it_is_on_its_way_out(house: House) -> None:
    await house.cluster.apply(JOB, job(house.team, stop_after="60s"))
    await running(house)
    await house.cluster.shorten(house.team, OURS, 1)
    began = asyncio.get_running_loop().time()
    assert not await house.cluster.delete(JOB, house.team, "train", OURS, wait_s=0.2)
    await house.cluster.shorten(house.team, OURS, 40)  # no sooner than it goes by itself
    assert not await house.cluster.delete(JOB, house.team, "train", OURS, wait_s=0.2)
    await house.cluster.shorten(house.team, OURS, 1)
    assert await house.cluster.delete(JOB, house.team, "train", OURS, wait_s=20)
    assert 1 <= asyncio.get_running_loop().time() - began < 15
