"""What is asked of the hub's settings where they come in: each is told so, and stops no other and no start; what an
older version took, which did not ask, stays in force."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest_asyncio

from fairway.runtime.ports import Outgoing
from fairway.wire import fleet, subjects
from tests.contract.hub.test_settings import is_not, is_ready, seen
from tests.support.simulated_hub import PP, TREE, House, opened

Json = dict[str, Any]
ALL = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}]}


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


def large(names: int) -> Json:
    return {"placement": {"clusterAffinity": {"clusterNames": ["north"] * names}}}


async def test_a_policy_that_is_too_large_is_told_so_and_others_are_taken(house: House) -> None:
    await house.apply(PP, "large", **ALL, **large(6_000))
    found = await seen(house, PP, "large", is_not("TooLarge"))
    assert "spec: the policy has more than 5000 fields" in found["status"]["conditions"][0]["message"]
    event = await house.events(lambda one: one["reason"] == "Refused")
    assert "the policy has more than 5000 fields" in event["message"]
    await house.wide("p")
    await seen(house, PP, "p", is_ready)
    await house.hub.patch(PP, "team-a", "large", {"spec": large(3)})
    await seen(house, PP, "large", is_ready)


async def took(house: House, kind: str, namespace: str, name: str) -> None:
    """An older version has said that the object is in force as it is."""
    made = await house.hub.get(kind, namespace, name)
    plain = kind.partition(".")[0]
    said = fleet.Configured(kind=plain, namespace=namespace, name=name, manifest=msgspec.Raw(msgspec.json.encode(made)))
    subject = subjects.config(plain, namespace, name)
    await house.bus.publish([Outgoing("old", subject, msgspec.json.encode(said))])


async def test_one_that_an_older_version_took_stays_in_force_and_stops_no_start(house: House) -> None:
    await house.stop()
    await house.apply(PP, "large", **ALL, **large(6_000))
    await took(house, PP, "team-a", "large")
    house.start()
    await seen(house, PP, "large", is_ready)
    await house.hub.patch(PP, "team-a", "large", {"spec": large(6_001)})
    wrong = await seen(house, PP, "large", is_not("TooLarge"))
    assert "the last good one stays in force" in wrong["status"]["conditions"][0]["message"]


async def test_a_tree_with_a_field_that_nobody_knows_and_that_an_older_version_took_stays_in_force(
    house: House,
) -> None:
    """Without it no quota would hold at all."""
    root = {"name": "root", "max": {"cpu": "4"}, "minn": {"cpu": "4"}}
    await house.stop()
    await house.apply(TREE, "t", root=root)
    await took(house, TREE, "kube-system", "t")
    house.start()
    await seen(house, TREE, "t", is_ready)
    await house.hub.patch(TREE, "kube-system", "t", {"spec": {"root": {**root, "max": {"cpu": "5"}}}})
    wrong = await seen(house, TREE, "t", is_not("Invalid"))
    said = wrong["status"]["conditions"][0]["message"]
    assert "spec.root.minn: is not a known field" in said and "the last good one stays in force" in said
