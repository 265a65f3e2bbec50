"""A kind of the hub that cannot be listed holds up the statuses of that kind alone."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from fairway.runtime.cluster_port import Change
from fairway.runtime.ports import Unreachable
from fairway.watcher.hub_status import mirror, writer
from tests.spec.builders.hub_mirror import House, opened
from tests.spec.builders.lives import running

WORKFLOW = "Workflow.argoproj.io/v1alpha1"
UP = {"active": 1, "ready": 1}


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as house:
        yield house


async def test_a_list_that_does_not_end_holds_up_no_other_kind(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asyncio.Event()
    listed = asyncio.Event()
    plain = house.hub.watch

    async def watch(kind: str) -> AsyncGenerator[Change, None]:
        if kind == WORKFLOW:
            asked.set()
            await listed.wait()
        async for change in plain(kind):
            yield change

    monkeypatch.setattr(house.hub, "watch", watch)
    monkeypatch.setattr(writer, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(mirror, "_AGAIN_S", 0.05)
    flow: dict[str, Any] = {"phase": "Running", "progress": "1/2"}
    names = [f"flow-{number}" for number in range(mirror.AT_ONCE + 4)]
    for name in names:
        await house.make(name, WORKFLOW)
        house.saw(house.job(running(), name, WORKFLOW), flow)
    await asyncio.wait_for(asked.wait(), 20)  # they are in hand, or stand in line before what comes now
    house.saw(house.job(running()), UP)
    assert await house.shows(active=1) == UP
    listed.set()
    for name in names:
        await house.shows(name, WORKFLOW, **flow)


async def test_a_list_that_failed_is_made_anew_for_the_next_write(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [Unreachable("the connection was closed")] * 2
    plain = house.hub.watch

    async def watch(kind: str) -> AsyncGenerator[Change, None]:
        if failures:
            raise failures.pop()
        async for change in plain(kind):
            yield change

    monkeypatch.setattr(house.hub, "watch", watch)
    monkeypatch.setattr(mirror, "_AGAIN_S", 0.05)
    house.saw(house.job(running()), UP)
    async with asyncio.timeout(20):
        while house.hub.calls != ["patch"]:
            await asyncio.sleep(0.02)
    assert failures == []
