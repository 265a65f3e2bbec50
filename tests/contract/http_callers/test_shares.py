"""What one tenant may take of the door, with however many callers: whoever may edit a namespace can make service
accounts there, and each of them is a caller."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack
from itertools import count
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from fairway.gateway.callers.access import Access
from fairway.gateway.callers.caller import Caller
from fairway.gateway.callers.rate_limits import HttpLimits
from fairway.gateway.callers.tenant_shares import Shares
from fairway.gateway.http.event_stream import Streams
from fairway.gateway.http.problem import Problem
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from tests.contract.http.test_limits import Server, Wire, answered, serving
from tests.support.http_door import TENANT_A, TENANT_B, House, opened, tenant
from tests.support.memory.identities import MemoryIdentity

STREAMS = 64
_ASGI = {"type": "http", "asgi": {"spec_version": "2.4"}}


def accounts(house: House, namespace: str, count: int) -> list[str]:
    """The tokens of so many service accounts, which who may edit that namespace has made."""
    tokens = [f"{namespace}-token-{number}" for number in range(count)]
    for number, token in enumerate(tokens):
        name = f"system:serviceaccount:{namespace}:sa-{number}"
        house.hub.reviews.table[token] = MemoryIdentity(name, tenant(namespace))
    return tokens


def people(house: House, namespace: str, count: int) -> list[str]:
    """The tokens of so many people who may edit that namespace."""
    tokens = [f"{namespace}-person-{number}" for number in range(count)]
    for number, token in enumerate(tokens):
        house.hub.reviews.table[token] = MemoryIdentity(f"{number}@{namespace}.example", tenant(namespace))
    return tokens


async def streams(door: Server, tokens: list[str], namespace: str, each: int = 8) -> tuple[list[Wire], Counter[int]]:
    """Those that were opened, and how often each status was answered."""
    line = (f"GET /v1/events?namespace={namespace} HTTP/1.1", "", "")
    wires = [await door.wire(*line, token=token) for token in tokens for _ in range(each)]
    statuses = [await answered(reader) for reader, _ in wires]
    return [wire for wire, status in zip(wires, statuses, strict=True) if status == 200], Counter(statuses)


async def ended(wires: list[Wire]) -> int:
    """How many of these streams the door has ended, with the reason."""

    async def told(reader: asyncio.StreamReader) -> bool:
        try:
            async with asyncio.timeout(0.5):
                await reader.readuntil(b": the end: another tenant has fewer event streams")
            return True
        except TimeoutError:
            return False

    return sum(await asyncio.gather(*(told(reader) for reader, _ in wires)))


async def test_the_streams_of_many_accounts_of_one_tenant_keep_no_other_tenant_out() -> None:
    async with serving(HttpLimits()) as door:
        mine, counts = await streams(door, accounts(door.house, "team-a", 9), "team-a")
        assert counts[429] and len(mine) < STREAMS
        _, counts = await streams(door, accounts(door.house, "team-b", 2), "team-b")
        assert counts == {200: 16}
        assert await ended(mine) == len(mine) + 16 - STREAMS
        assert await door.ask(TENANT_B) == 200


async def test_nor_do_those_of_many_people_of_one_tenant() -> None:
    async with serving(HttpLimits()) as door:
        mine, counts = await streams(door, people(door.house, "team-a", 8), "team-a")
        assert counts == {200: STREAMS}
        _, counts = await streams(door, people(door.house, "team-a", 9)[-1:], "team-a")
        assert counts == {429: 8}, "of the tenant that has them all"
        _, counts = await streams(door, people(door.house, "team-b", 1), "team-b")
        assert counts == {200: 8}
        assert await ended(mine) == 8


class Stuck:
    """A client that reads nothing of its stream but that it is open."""

    def __init__(self) -> None:
        self.waits = asyncio.Event()
        self.reads = asyncio.Event()
        self.last = b""

    async def send(self, message: Any) -> None:
        if message.get("body", b": open\n\n") != b": open\n\n":
            self.waits.set()
            await self.reads.wait()
            self.last = message["body"]

    async def receive(self) -> Any:
        return await asyncio.Event().wait()


async def _stream(house: House, shared: Streams, token: str, namespace: str) -> Response:
    access = Access(house.callers, await house.callers.tokens.who(token), token, "r")
    scope = {"type": "http", "headers": [], "query_string": f"namespace={namespace}".encode()}
    return await shared.events(Request({**scope, "state": {"access": access}}))


async def test_a_stream_that_nobody_reads_loses_its_place_and_what_it_holds_of_the_bus() -> None:
    async with opened() as house:
        shared = Streams(house.world, most=2)
        open_ = list[str]()
        plain = house.bus.history

        async def history(stream: str, wanted: Any = None, **how: Any) -> AsyncIterator[Delivery]:
            open_.append(stream)
            try:
                async for one in plain(stream, wanted, **how):
                    yield one
            finally:
                open_.remove(stream)

        house.bus.history = history  # type: ignore[method-assign, assignment]  # to count
        clients = [Stuck(), Stuck()]
        tasks = []
        numbers = count()
        for client in clients:
            response = await _stream(house, shared, TENANT_A, "team-a")
            tasks.append(asyncio.create_task(response(dict(_ASGI), client.receive, client.send)))
        async with asyncio.timeout(5):
            while not all(client.waits.is_set() for client in clients):
                await house.say(f"{next(numbers)}", wire.Running(job="a", tenant="team-a", cluster="c1"))
                await asyncio.sleep(0)
        assert len(open_) == 2
        await _stream(house, shared, TENANT_B, "team-b")
        async with asyncio.timeout(5):
            while len(open_) > 1:
                await asyncio.sleep(0)
        assert not tasks[1].done(), "the connection is there, and counts as a request in hand"
        clients[1].reads.set()
        await tasks[1]
        assert clients[1].last.startswith(b": the end: another tenant")
        tasks[0].cancel()
        await asyncio.wait(tasks)


async def test_the_requests_of_many_accounts_of_one_tenant_are_those_of_two_callers() -> None:
    async with opened(HttpLimits(rate=5)) as house:
        tokens = accounts(house, "team-a", 8)
        said = Counter[int]()
        for token in tokens:
            async with house.client(token) as client:
                said += Counter([(await client.get("/v1/queues")).status_code for _ in range(10)])
        assert said == {200: 20, 429: 60}
        async with house.client(TENANT_B) as client:
            assert [(await client.get("/v1/queues")).status_code for _ in range(10)] == [200] * 10
        async with house.client(accounts(house, "team-a", 9)[-1]) as client:
            got = await client.get("/v1/queues")
        assert "service accounts of namespace team-a" in got.json()["title"] and got.headers["Retry-After"]


def test_accounts_of_a_namespace_are_one_tenant_and_other_callers_are_each_their_own() -> None:
    of = {
        name: Caller(name).tenant
        for name in (
            "system:serviceaccount:team-a:x",
            "system:serviceaccount:team-a:y",
            "system:serviceaccount:team-b:x",
            "ann",
            "system:serviceaccount:broken",
        )
    }
    assert len(set(of.values())) == 4
    assert of["system:serviceaccount:team-a:x"] == of["system:serviceaccount:team-a:y"]


def test_of_shares_the_largest_gives_way_and_only_to_one_that_is_smaller_by_two() -> None:
    shares = Shares(4, "event streams")
    with ExitStack() as held:
        a = [held.enter_context(shares.take("a")) for _ in range(4)]
        b = [held.enter_context(shares.take("b")) for _ in range(2)]
        assert [one.lost for one in a] == [False, False, True, True], "the newest first"
        for tenant_ in "ab":
            try:
                held.enter_context(shares.take(tenant_))
                raise AssertionError("it was one too many")
            except Problem as problem:
                assert problem.body.status == 429
        c = held.enter_context(shares.take("c"))
        assert [one.lost for one in (*a, *b, c)].count(True) == 3
        assert shares.count == 4
    assert shares.count == 0
