"""`fairway submit` of many documents: few requests, an answer for each document, and no job twice."""

import asyncio
from typing import Any

import httpx
from door_house import ADMIN, TENANT_A, bearer, job
from test_http_limits import Server, serving

from fairway.app.batches import PATH, drafts, send
from fairway.app.entries import Entry
from fairway.app.manifests import Document
from fairway.domain.limits import Limits
from fairway.gateway.callers.pace import HttpLimits

LIMITS = HttpLimits(rate=20)


class Client:
    """What the command has of the gateway; `asked` are its requests."""

    def __init__(self, door: Server, token: str) -> None:
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{door.port}", headers=bearer(token), trust_env=False)
        self.asked: list[int] = []

    def post(self, path: str, body: Any, **query: str) -> Any:
        assert path == PATH
        self.asked.append(len(body["jobs"]))
        # Nobody admits anything here.
        return self.http.post(path, json=body).raise_for_status().json()


async def sent(door: Server, token: str, *manifests: Any) -> tuple[list[Entry], list[int]]:
    """What is waited for passes at once."""
    client, loop = Client(door, token), asyncio.get_running_loop()

    def wait(seconds: float) -> None:
        asyncio.run_coroutine_threadsafe(door.house.clock.advance(seconds), loop).result(5)

    ready = drafts([(Document("f.yaml", one), []) for one in manifests])
    try:
        return await asyncio.to_thread(send, client, ready, wait), client.asked
    finally:
        client.http.close()


async def test_two_hundred_and_fifty_jobs_are_three_requests() -> None:
    async with serving(LIMITS) as door:
        entries, asked = await sent(door, ADMIN, *(job(f"j{n}") for n in range(250)))
        assert asked == [100, 100, 50]
        assert [one.name for one in entries] == [f"j{n}" for n in range(250)]
        assert all(one.accepted for one in entries)
        assert [one.job for one in await door.house.submitted()] == [one.job for one in entries]


async def test_large_jobs_are_sent_in_smaller_pieces() -> None:
    async with serving(LIMITS) as door:
        large = [job(f"j{n}", annotations={"note": "x" * 200_000}) for n in range(9)]
        entries, asked = await sent(door, ADMIN, *large)
        assert (sum(asked), max(asked) < 9, all(one.accepted for one in entries)) == (9, True, True)


async def test_each_document_has_its_own_answer() -> None:
    async with serving(LIMITS) as door:
        entries, _ = await sent(door, TENANT_A, job("a"), job("b", namespace="team-b"), job("c"))
        assert [one.accepted for one in entries] == [True, False, True]
        (why,) = entries[1].reasons
        assert (why.code, "create jobs.batch in namespace team-b" in why.text) == ("Forbidden", True)


async def test_what_comes_faster_than_its_tenant_may_is_sent_again_until_it_is_in() -> None:
    async with serving(LIMITS) as door:
        door.house.catalog.limits = {"team-a": Limits(rate=4)}
        entries, asked = await sent(door, ADMIN, *(job(f"j{n}") for n in range(10)))
        assert all(one.accepted for one in entries)
        assert asked == [10, 6, 2]
        assert len(await door.house.submitted()) == 10
