"""Large bodies are read in turns of callers: whoever sends many of them waits for their own."""

import asyncio

import pytest

from fairway.gateway.http.request_bodies import Turns
from tests.support.http_door import POLICY, TENANT_A, TENANT_B, House, job, opened

# Some 0.1 s of reading each.
LONG = b"- a\n" * 30_000


async def send(house: House, token: str, body: bytes, done: list[str]) -> int:
    async with house.client(token) as client:
        got = await client.post("/v1/jobs", content=body, headers={"Content-Type": "application/yaml"})
    done.append(token)
    return got.status_code


async def test_many_large_bodies_of_one_caller_stand_before_another_with_one_at_most() -> None:
    done: list[str] = []
    async with opened() as house:
        flood = [asyncio.create_task(send(house, TENANT_A, LONG, done)) for _ in range(10)]
        while not house.hub.reviews.asked:
            await asyncio.sleep(0)
        await asyncio.sleep(0.02)
        body = {"manifest": job(namespace="team-b", annotations={"note": "x" * 70_000}), "policies": [POLICY]}
        async with house.client(TENANT_B) as client:
            assert (await client.post("/v1/jobs", json=body)).status_code == 202
        before = len(done)
        assert set(await asyncio.gather(*flood)) == {422}
    assert before <= 3, "those that were begun"


async def test_of_one_caller_one_is_in_hand_and_of_all_so_many() -> None:
    turns = Turns(at_once=2)
    now = list[str]()
    most = list[int]()

    async def hold(caller: str) -> None:
        async with turns.one(caller):
            assert caller not in now
            now.append(caller)
            most.append(len(now))
            await asyncio.sleep(0)
            now.remove(caller)

    await asyncio.gather(*(hold(caller) for caller in "aaabbbccc"))
    assert (len(most), max(most)) == (9, 2)
    assert not turns._own, "nobody is remembered who waits for nothing"


async def test_who_goes_away_while_waiting_leaves_the_turn_to_the_next() -> None:
    turns = Turns(at_once=1)
    async with turns.one("a"):
        gone = asyncio.create_task(turns.one("a").__aenter__())
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
    async with asyncio.timeout(1), turns.one("a"):
        assert list(turns._own) == ["a"]
