"""Many jobs as one request: each is answered for itself, and all of them are stored at once. And one that can never
be."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from starlette.requests import Request

from fairway.domain.names import job_id
from fairway.domain.tenancy.submission_limits import Limits
from fairway.gateway.callers.access import Access
from fairway.gateway.callers.rate_limits import HttpLimits
from fairway.gateway.http.batch import BatchDoor
from fairway.gateway.http.problem import Problem
from fairway.gateway.http.routes import _door
from fairway.runtime.ports import Outgoing
from tests.support.http_door import ADMIN, POLICY, TENANT_A, House, job, opened

BATCH = "/v1/jobs:batch"


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


def jobs(*some: Any) -> dict[str, Any]:
    return {"jobs": [*some]}


def items(got: Any) -> list[tuple[int, str]]:
    """The status of each, with its job or the code of what was wrong."""
    assert got.status_code == 200, got.text
    return [
        (one["status"], one["accepted"]["job"] if "accepted" in one else one["problem"].get("code", ""))
        for one in got.json()["items"]
    ]


async def test_every_job_is_accepted_or_refused_for_itself(house: House) -> None:
    good = {"manifest": job("a"), "policies": [POLICY], "client": "a"}
    foreign = {"manifest": job("b", namespace="team-b"), "client": "b"}
    broken: list[Any] = [{"manifest": "x"}, {"manifest": job(), "nonsense": 1}, 7]
    async with house.client(TENANT_A) as client:
        got = await client.post(BATCH, json=jobs(good, foreign, *broken, {"manifest": job("c"), "client": "c"}))
    assert items(got) == [
        (202, job_id("team-a", "a", "a")),
        (403, "Forbidden"),
        (422, "Invalid"),
        (422, "Invalid"),
        (422, "Invalid"),
        (202, job_id("team-a", "c", "c")),
    ]
    assert [one.client for one in await house.submitted()] == ["a", "c"]
    assert {one.who.user for one in await house.submitted() if one.who} == {"system:serviceaccount:team-a:ci"}


async def test_all_of_it_is_one_request_and_one_publish() -> None:
    async with opened(HttpLimits(rate=1)) as house:
        said: list[int] = []
        plain = house.bus.publish

        async def publish(messages: list[Outgoing], tries: int = 4) -> None:
            said.append(len(messages))
            await plain(messages, tries)

        house.bus.publish = publish  # type: ignore[method-assign, assignment]  # to count
        for _ in range(2):
            got = await house.http.post(BATCH, json=jobs(*({"manifest": job(f"j{n}")} for n in range(100))))
            assert {status for status, _ in items(got)} == {202}
        assert said == [100, 100]


async def test_the_same_batch_again_is_the_same_jobs(house: House) -> None:
    body = jobs(*({"manifest": job(f"j{n}"), "client": f"c{n}"} for n in range(3)))
    first = await house.http.post(BATCH, json=body)
    again = await house.http.post(BATCH, json=body)
    assert [one[1] for one in items(first)] == [one[1] for one in items(again)]
    assert [one[0] for one in items(again)] == [200, 200, 200]
    assert len(await house.submitted()) == 3


async def test_one_client_id_twice_in_a_batch_is_one_job_or_a_mistake(house: House) -> None:
    same = {"manifest": job(), "client": "k"}
    other = {"manifest": job(gpus=2), "client": "k"}
    got = items(await house.http.post(BATCH, json=jobs(same, same, other)))
    assert [one[0] for one in got] == [202, 200, 409]
    assert len(await house.submitted()) == 1


async def test_what_a_tenant_may_not_submit_now_is_told_with_the_time_to_come_again(house: House) -> None:
    house.catalog.limits = {"team-a": Limits(rate=2)}
    got = await house.http.post(BATCH, json=jobs(*({"manifest": job(f"j{n}")} for n in range(3))))
    assert [one[0] for one in items(got)] == [202, 202, 429]
    assert got.json()["items"][2]["retry_after"] == 1


async def test_a_job_twice_in_a_batch_that_may_not_be_submitted_now_is_refused_twice(house: House) -> None:
    house.catalog.limits = {"team-a": Limits(rate=1)}
    first = {"manifest": job("first")}
    same = {"manifest": job(), "client": "k"}
    got = await house.http.post(BATCH, json=jobs(first, same, same))
    assert [one[0] for one in items(got)] == [202, 429, 429]
    assert len(await house.submitted()) == 1


async def test_what_the_bus_never_takes_is_refused_for_itself_and_for_its_repetition(house: House) -> None:
    house.bus.max_payload = 2_000
    large = {"manifest": job("large", annotations={"note": "x" * 2_000}), "client": "large"}
    small = [{"manifest": job(name), "client": name} for name in "ab"]
    got = await house.http.post(BATCH, json=jobs(small[0], large, large, small[1]))
    assert [one[0] for one in items(got)] == [202, 413, 413, 202]
    assert items(got)[1][1] == "Unsayable"
    assert [one.client for one in await house.submitted()] == ["a", "b"]
    house.bus.max_payload = 1_000_000
    assert items(await house.http.post(BATCH, json=jobs(large))) == [(202, job_id("team-a", "large", "large"))]


async def test_nobody_waits_any_more_for_a_word_on_what_was_not_stored(house: House) -> None:
    """Whoever asks to wait while the bus takes nothing leaves nothing behind."""
    house.bus.max_payload = 600
    door = _door(house.world, house.settings)
    access = Access(house.callers, await house.callers.tokens.who(ADMIN), ADMIN, "r")
    scope = {"type": "http", "headers": [(b"content-type", b"application/json")], "query_string": b"wait=admitted"}
    for post, body in ((door.post, {"manifest": job()}), (BatchDoor(door).post, jobs({"manifest": job()}))):

        async def receive(body: Any = body) -> Any:
            return {"type": "http.request", "body": msgspec.json.encode(body)}

        with contextlib.suppress(Problem):
            await post(Request({**scope, "state": {"access": access}}, receive))
    await asyncio.sleep(0)
    assert not door.settled._waiting
    await door.settled.close()


async def test_with_the_bus_away_none_of_it_is_accepted(house: House) -> None:
    house.bus.connected = False
    got = await house.http.post(BATCH, json=jobs({"manifest": job()}))
    assert (got.status_code, "nothing was accepted" in got.json()["detail"]) == (503, True)


@pytest.mark.parametrize(
    ("body", "title"),
    [
        pytest.param({"jobs": []}, "jobs: the body is not", id="no jobs"),
        pytest.param({"jobs": {}}, "jobs: the body is not", id="no list"),
        pytest.param({"manifest": job()}, "jobs: the body is not", id="a single job"),
        pytest.param({"jobs": [{}], "more": 1}, "jobs: the body is not", id="something else beside them"),
        pytest.param(jobs(*({"manifest": {}} for _ in range(101))), "jobs: holds 101 jobs", id="too many"),
    ],
)
async def test_a_body_that_is_no_batch_is_refused_whole(house: House, body: Any, title: str) -> None:
    got = await house.http.post(BATCH, json=body)
    assert got.status_code in (413, 422)
    assert got.json()["title"].startswith(title)
    assert await house.said() == []


async def test_what_the_bus_never_takes_is_refused_with_the_reason_and_not_told_to_come_back(house: House) -> None:
    house.bus.max_payload = 600
    got = await house.http.post("/v1/jobs", json={"manifest": job(), "policies": [POLICY]})
    assert (got.status_code, got.json()["code"]) == (413, "Unsayable")
    assert "this cannot be said on the bus" in got.json()["title"] and "Retry-After" not in got.headers
    assert not house.bus.stored("JOBS")
