"""What a caller is told of jobs that they may not read: those that Fairway speaks of, by their size, and no others."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest
import pytest_asyncio

from fairway.domain.names import job_id
from fairway.queue.position import answer
from fairway.wire import asks
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.views import of, tree
from tests.spec.builders.waiting import BLOCK, quota, waiting
from tests.support.http_door import ADMIN, NOW, POLICY, TENANT_A, TENANT_B, House, job, opened, row

MINE = "mine-aaaaaaaaaa"
THEIRS = "theirs-bbbbbbbbbb"
NOBODYS = "nobodys-bbbbbbbbbb"
SIZE = "a job of another tenant (1 nvidia.com/gpu)"
TURN = Reason(Code.BEHIND_HEAD, "queue gold lets one job go at a time, in order, and it is not the turn of this one")
HEAD = "quota root/b has 1 of 8 nvidia.com/gpu left"


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        await one.has(row(MINE), row(THEIRS, tenant="team-b"), row("theirs-2", tenant="team-b"), row("own-2"))
        yield one


async def stands(house: House, *ahead: str, head: str = HEAD, gates: tuple[Reason, ...] = (TURN,)) -> None:
    """Every job that is asked about stands behind these."""

    async def where(data: bytes) -> bytes:
        asked = msgspec.json.decode(data, type=asks.QueueAsk)
        text = "; and ".join(gate.text for gate in gates)
        place = ("gold", "Block", len(ahead) + 1, ahead, gates[0].code, text, 0, ahead, gates, head)
        also = tuple(asks.QueuePlace(*place) for _ in asked.also)
        return msgspec.json.encode(asks.QueueAnswer(*place, also))

    await house.bus.answer(asks.QUEUE, where)


async def answered(house: House, token: str = TENANT_A) -> tuple[str, list[str]]:
    """What `why` says of one's own job, and whom it names."""
    async with house.client(token) as client:
        found = (await client.get(f"/v1/jobs/{MINE}/why")).json()
    return found["because"], found["queue"]["ahead"]


@pytest.mark.parametrize(
    ("ahead", "token", "names", "says"),
    [
        pytest.param(
            ("own-2",), TENANT_A, ["team-a/own-2"], f"before it: team-a/own-2 ({HEAD})", id="ones own, by name, and why"
        ),
        pytest.param((THEIRS,), TENANT_A, ["a job of another tenant"], "before it: a job of another tenant", id="one"),
        pytest.param(
            (THEIRS, "own-2", "theirs-2", NOBODYS),
            TENANT_A,
            ["team-a/own-2", "3 jobs of other tenants"],
            "before it: team-a/own-2 and 3 jobs of other tenants",
            id="others are counted, whether they are there or not",
        ),
        pytest.param(
            (THEIRS, "own-2"),
            ADMIN,
            [f"team-b/{THEIRS}", "team-a/own-2"],
            f"before it: team-b/{THEIRS} and team-a/own-2 ({HEAD})",
            id="who may see everything is told everything",
        ),
    ],
)
async def test_who_is_ahead_is_named_to_those_who_may_see_it(
    house: House, ahead: tuple[str, ...], token: str, names: list[str], says: str
) -> None:
    await stands(house, *ahead)
    because, named = await answered(house, token)
    assert (named, because) == (names, f"Q{TURN.text[1:]}; {says}.")


async def test_the_tenant_of_the_other_jobs_is_told_of_them_by_name_and_not_of_the_first(house: House) -> None:
    """Each of the two sees its own."""
    await stands(house, THEIRS, "own-2")
    async with house.client(TENANT_B) as client:
        got = (await client.get("/v1/jobs/theirs-2/why")).json()
        assert (await client.get(f"/v1/jobs/{MINE}/why")).status_code == 404
    assert got["queue"]["ahead"] == [f"team-b/{THEIRS}", "a job of another tenant"]


async def test_every_gate_is_named_and_only_the_turn_speaks_of_others(house: House) -> None:
    quota = Reason(Code.WAITING_FOR_QUOTA, "quota root/a has 0 of 8 nvidia.com/gpu left and the job needs 1", "root/a")
    room = Reason(Code.WAITING_FOR_ROOM, "none of 2 clusters can take it now")
    await stands(house, THEIRS, gates=(quota, TURN, room))
    because, _ = await answered(house)
    parts = (quota.text, f"{TURN.text}; before it: a job of another tenant", room.text)
    assert because.lower() == f"{'; and '.join(parts)}.".lower()


async def test_a_list_says_the_same_as_why(house: House) -> None:
    await stands(house, THEIRS)
    because, _ = await answered(house)
    async with house.client(TENANT_A) as client:
        rows = (await client.get("/v1/jobs?namespace=team-a&state=queued")).json()["items"]
    said = {one["id"]: (one["reason"], f"Q{one['text'][1:]}.") for one in rows}
    assert said[MINE] == ("BehindHead", because)


async def test_a_list_does_without_a_queue_that_is_silent(house: House) -> None:
    async with house.client(TENANT_A) as client:
        (one,) = (await client.get(f"/v1/jobs?id={MINE}")).json()["items"]
    assert (one["reason"], one["text"]) == ("Queued", "nothing is known to stand against it")


async def test_two_tenants_of_one_blocking_queue_are_told_of_each_other_as_far_as_they_may_know(house: House) -> None:
    """As the queue itself answers: the first of three is of another tenant, and lacks quota."""
    full = {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 30}}
    view = of(waiting("first", why=quota()), waiting("second", 1), waiting("third", 2), queues=BLOCK, **full)
    theirs = msgspec.structs.replace(view.jobs["first"], tenant="team-b")
    view.queued.put(theirs)
    await house.has(theirs, view.jobs["second"], view.jobs["third"])

    async def where(data: bytes) -> bytes:
        asked = msgspec.json.decode(data, type=asks.QueueAsk)
        return msgspec.json.encode(answer(view, asked, NOW))

    await house.bus.answer(asks.QUEUE, where)
    turn = f"{TURN.text}; before it"
    lacks = "quota root/a has 2 of 32 nvidia.com/gpu left and the job needs 8"
    async with house.client(TENANT_A) as client:
        mine = (await client.get("/v1/jobs/third/why")).json()
        listed = {one["id"]: one["text"] for one in (await client.get("/v1/jobs?namespace=team-a")).json()["items"]}
    assert mine["because"].lower() == f"{lacks}; and {turn}: a job of another tenant.".lower()
    assert mine["queue"]["ahead"] == ["team-a/second", "a job of another tenant"]
    assert [listed[one] for one in ("second", "third")] == [f"{lacks}; and {turn}: a job of another tenant"] * 2
    admin = (await house.http.get("/v1/jobs/third/why")).json()["because"]
    assert admin.lower() == f"{lacks}; and {turn}: team-b/first ({lacks}).".lower()


async def test_of_the_first_in_a_queue_only_its_size_is_told(house: House) -> None:
    await house.has(row(THEIRS, tenant="team-b", queue="silver"))
    async with house.client(TENANT_A) as client:
        queues = (await client.get("/v1/queues")).text
    assert ("theirs" in queues, SIZE in queues) == (False, True)


async def test_a_queue_service_of_before_that_does_not_say_whom_it_names_is_not_repeated(house: House) -> None:
    async def where(data: bytes) -> bytes:
        text = f"queue gold blocks behind its head {THEIRS}: {HEAD}"
        return msgspec.json.encode(asks.QueuePlace("gold", "Block", 2, (THEIRS,), "BehindHead", text))

    await house.bus.answer(asks.QUEUE, where)
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
        await stands(one, MINE, head=text)
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
