"""Policies of the hub that are larger than any may be: each is told so, and stops no other and no start."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest_asyncio

from fairway.runtime.ports import Outgoing
from fairway.wire import fleet, subjects
from tests.contract.hub.test_settings import is_not, is_ready, seen
from tests.support.simulated_hub import PP, House, opened

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


async def test_one_that_an_older_version_took_stays_in_force_and_stops_no_start(house: House) -> None:
    await house.stop()
    await house.apply(PP, "large", **ALL, **large(6_000))
    made = await house.hub.get(PP, "team-a", "large")
    message = fleet.Configured(
        kind="PropagationPolicy", namespace="team-a", name="large", manifest=msgspec.Raw(msgspec.json.encode(made))
    )
    subject = subjects.config("PropagationPolicy", "team-a", "large")
    await house.bus.publish([Outgoing("old", subject, msgspec.json.encode(message))])
    house.start()
    await seen(house, PP, "large", is_ready)
    await house.hub.patch(PP, "team-a", "large", {"spec": large(6_001)})
    wrong = await seen(house, PP, "large", is_not("TooLarge"))
    assert "the last good one stays in force" in wrong["status"]["conditions"][0]["message"]
