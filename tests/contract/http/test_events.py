"""Server-sent events: of one tenant, from now on or after the last one heard, and never with a manifest."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from fairway.gateway.http.event_stream import Streams
from fairway.wire import jobs as wire
from tests.support.http_door import TENANT_A, TENANT_B, House, bearer, opened
from tests.support.memory.identities import MemoryIdentity


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def heard(house: House, after: int, count: int) -> tuple[list[bytes], "asyncio.Task[list[bytes]]"]:
    lines = Streams(house.world).lines("team-a", after)
    opening = await anext(lines)

    async def rest() -> list[bytes]:
        got = [await anext(lines) for _ in range(count)]
        await lines.aclose()
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


SECRET = msgspec.Raw(b'{"env":"s3cret"}')


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(wire.Submitted(tenant="team-a", manifest=SECRET), id="as it was submitted"),
        pytest.param(wire.Revise(tenant="team-a", manifest=SECRET, policies=(SECRET,), source="hub"), id="as changed"),
    ],
)
async def test_events_go_on_after_the_last_one_heard_and_carry_no_manifest(
    house: House, message: wire.JobMessage
) -> None:
    await house.say("1", wire.Running(job="a", tenant="team-a", cluster="c1"))
    await house.say("2", message)
    _, rest = await heard(house, 1, 1)
    (event,) = await rest
    assert event.startswith(f"id: 2\nevent: {message.verb}\n".encode())
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


async def test_a_stream_of_a_namespace_that_may_not_be_read_is_never_begun(house: House) -> None:
    async with house.client(TENANT_B) as client:
        got = await client.get("/v1/events", params={"namespace": "team-a"})
    assert (got.status_code, got.json()["code"]) == (403, "Forbidden")


def withdrawn(house: House) -> None:
    del house.hub.reviews.table[TENANT_A]


def forbidden(house: House) -> None:
    one = house.hub.reviews.table[TENANT_A]
    house.hub.reviews.table[TENANT_A] = MemoryIdentity(one.user, (), audiences=one.audiences)


async def begun(house: House) -> tuple[asyncio.Task[None], list[bytes]]:
    """A stream of team-a's own, which has begun, and what it sends: httpx would hand over nothing before its end."""
    got: list[bytes] = []
    started = asyncio.Event()

    async def send(message: Any) -> None:
        got.append(message.get("body", b""))
        started.set()

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    stream = asyncio.create_task(house.app(asks_for_events(bearer(TENANT_A)), receive, send))
    await started.wait()
    return stream, got


def asks_for_events(headers: dict[str, str]) -> dict[str, Any]:
    """A request as a server hands it to the app."""
    raw = [(b"host", b"127.0.0.1"), *((k.lower().encode(), v.encode()) for k, v in headers.items())]
    return {
        "type": "http",
        "method": "GET",
        "path": "/v1/events",
        "raw_path": b"/v1/events",
        "headers": raw,
        "query_string": b"namespace=team-a",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "scheme": "http",
        "http_version": "1.1",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "root_path": "",
    }


@pytest.mark.parametrize(
    ("take_away", "says"),
    [(withdrawn, b"the bearer token is not good here"), (forbidden, b"system:serviceaccount:team-a:ci may not watch")],
)
async def test_a_stream_ends_within_a_minute_when_the_right_to_it_is_gone(
    house: House, take_away: Callable[[House], None], says: bytes
) -> None:
    stream, got = await begun(house)
    await house.clock.advance(30)
    async with house.client(TENANT_A) as client:  # the hub's answers to this are kept for a minute
        assert (await client.get("/v1/jobs", params={"namespace": "team-a"})).status_code == 200
    take_away(house)
    await house.clock.advance(29)
    async with asyncio.timeout(5):
        for number in range(100):
            await house.say(f"e{number}", wire.Running(job="a", tenant="team-a", cluster="c1"))
            await asyncio.sleep(0)
            if stream.done():
                break
        await stream
    text = b"".join(got)
    assert b": the end: %b" % says in text
    assert b"event: running" not in text
