"""What a caller is told of jobs that they may not read: those that Fairway speaks of, by their size, and no others."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest_asyncio

from fairway.domain.names import job_id
from fairway.wire import asks
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.support.http_door import NOW, POLICY, TENANT_A, House, job, opened, row

MINE = "mine-aaaaaaaaaa"
THEIRS = "theirs-bbbbbbbbbb"
NOBODYS = "nobodys-bbbbbbbbbb"
SIZE = "a job of another tenant (1 nvidia.com/gpu)"
HEAD = f"queue gold blocks behind its head {THEIRS}: quota root/b has 1 of 8 nvidia.com/gpu left"


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        await one.has(row(MINE), row(THEIRS, tenant="team-b"))
        yield one


async def stands(house: House, *behind: str, text: str = HEAD, ahead: tuple[str, ...] = (THEIRS,)) -> None:
    async def where(data: bytes) -> bytes:
        place = asks.QueuePlace("gold", "Block", len(ahead) + 1, ahead, "BehindHead", text, behind=behind)
        return msgspec.json.encode(place)

    await house.bus.answer(asks.QUEUE, where)


async def test_of_the_jobs_before_ones_own_only_their_size_is_told(house: House) -> None:
    await stands(house, THEIRS)
    async with house.client(TENANT_A) as client:
        mine = (await client.get(f"/v1/jobs/{MINE}/why")).text
        queues = (await client.get("/v1/queues")).text
    assert ("theirs" in mine, "theirs" in queues, SIZE in mine) == (False, False, True)
    assert THEIRS in (await house.http.get(f"/v1/jobs/{MINE}/why")).text


async def test_the_quota_that_anothers_job_waits_for_is_not_told_and_that_of_ones_own_is(house: House) -> None:
    await stands(house, THEIRS)
    async with house.client(TENANT_A) as client:
        assert "root/b" not in (await client.get(f"/v1/jobs/{MINE}/why")).text
        await house.has(row("first-aaaaaaaaaa"))
        first = "queue gold blocks behind its head first-aaaaaaaaaa: quota root/a has 0 of 8 left"
        await stands(house, "first-aaaaaaaaaa", text=first, ahead=("first-aaaaaaaaaa",))
        own = (await client.get(f"/v1/jobs/{MINE}/why")).json()
    assert "root/a has 0 of 8" in own["because"]


async def test_a_queue_service_that_does_not_say_whom_it_names_is_not_repeated(house: House) -> None:
    await stands(house)
    async with house.client(TENANT_A) as client:
        said = (await client.get(f"/v1/jobs/{MINE}/why")).text
    assert ("theirs" in said, "root/b" in said) == (False, False)
    assert "root/b" in (await house.http.get(f"/v1/jobs/{MINE}/why")).text


async def told(guess: str) -> list[str]:
    """Everything that is answered of a job whose owner wrote `guess` wherever they could."""
    client = f"probe {guess}"
    text = f"cluster north has no label x={guess}"
    mine = job_id("team-a", client, "train")
    why = Reason(Code.WAITING_FOR_ROOM, text)
    async with opened() as one:
        await one.has(row(MINE), row(THEIRS, tenant="team-b"))
        await stands(one, MINE, text=f"queue gold blocks behind its head {MINE}: {text}", ahead=(MINE,))
        async with one.client(TENANT_A) as caller:
            await caller.post("/v1/jobs", json={"manifest": job(), "policies": [POLICY], "client": client})
            known = msgspec.structs.replace(row(mine, rev=1, entered=1), why=why, name=f"spy-{guess}")
            await one.has(known)
            assert known.spec is not None
            plain = {"job": mine, "tenant": "team-a", "attempt": 1, "at": NOW}
            await one.say("adm", wire.Admitted(**plain, rev=1, spec=known.spec))
            await one.say("blocked", wire.Blocked(**plain, rev=2, why=Reason(Code.BEHIND_HEAD, text)))
            paths = (f"/{mine}", f"/{mine}/why", f"/{mine}/story", "?namespace=team-a")
            answers = [await caller.get(f"/v1/jobs{path}") for path in paths]
    return [_plain(one, mine, guess) for one in answers]


def _plain(answer: httpx.Response, mine: str, guess: str) -> str:
    assert answer.status_code == 200
    assert guess in answer.text
    said: dict[str, Any] = answer.json()
    for line in said.get("lines", ()):
        line.pop("sequence")
    return msgspec.json.encode(said).decode().replace(mine, "MINE").replace(guess, "GUESS")


async def test_nothing_tells_a_guessed_id_of_anothers_job_from_one_that_is_not_there() -> None:
    there = await told(THEIRS)
    not_there = await told(NOBODYS)
    assert not_there == there
