"""Server-sent events: of one tenant, from now on or after the last one heard, and never with a manifest."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio
from door_house import House, opened

from fairway.gateway.stream import Streams
from fairway.wire import jobs as wire


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def heard(house: House, after: int, count: int) -> tuple[list[bytes], "asyncio.Task[list[bytes]]"]:
    lines = Streams(house.world).lines("team-a", after)
    opening = await anext(lines)

    async def rest() -> list[bytes]:
        got = [await anext(lines) for _ in range(count)]
        await lines.aclose()  # type: ignore[attr-defined]  # it is a generator
        return got

    return [opening], asyncio.create_task(rest())


async def test_events_are_those_of_one_tenant_from_now_on(house: House) -> None:
    await house.say("old", wire.Running(job="a", tenant="team-a", cluster="c1"))
    _, rest = await heard(house, 0, 1)
    while not rest.done():
        await house.say(f"other-{len(house.bus._log['JOBS'])}", wire.Running(job="x", tenant="team-b", cluster="c1"))
        await house.say(f"new-{len(house.bus._log['JOBS'])}", wire.Succeeded(job="a", tenant="team-a", cluster="c1"))
        await asyncio.sleep(0)
    (event,) = await rest
    assert b"event: succeeded\n" in event
    assert b'"tenant":"team-a"' in event


async def test_events_go_on_after_the_last_one_heard_and_carry_no_manifest(house: House) -> None:
    await house.say("1", wire.Running(job="a", tenant="team-a", cluster="c1"))
    secret = msgspec.Raw(b'{"env":"s3cret"}')
    await house.say("2", wire.Submitted(tenant="team-a", manifest=secret))
    _, rest = await heard(house, 1, 1)
    (event,) = await rest
    assert event.startswith(b"id: 2\nevent: submitted\n")
    assert b"s3cret" not in event


async def test_what_came_too_late_for_its_working_set_is_no_event(house: House) -> None:
    await house.say("1", wire.Rebuild(owner="a"))
    await house.say("2", wire.Rebuild(owner="a", begun=1))
    await house.say("3", wire.Running(job="a", tenant="team-a", cluster="late", rev=7))
    await house.say("4", wire.Running(job="a", tenant="team-a", cluster="c1", rev=7, epoch=1))
    _, rest = await heard(house, 1, 1)
    (event,) = await rest
    assert event.startswith(b"id: 4\n")


@pytest.mark.parametrize("asked", [{}, {"namespace": "*"}, {"namespace": "a.>"}])
async def test_events_are_never_those_of_all_tenants(house: House, asked: dict[str, str]) -> None:
    assert (await house.http.get("/v1/events", params=asked)).status_code == 400


