"""Whose token it is: what the hub is asked, how often, for how long its answer holds, and what happens without it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from fairway.gateway.callers.caller import AccessQuestion, Caller
from fairway.gateway.callers.rate_limits import HttpLimits
from fairway.runtime.cluster_port import ClusterRefused
from tests.support.http_door import ADMIN, NOBODY, TENANT_A, TENANT_B, House, callers, opened
from tests.support.memory.clock import ManualClock

LIST = "/v1/jobs?namespace=team-a"


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def status(house: House, token: str, path: str = LIST) -> int:
    async with house.client(token) as client:
        return (await client.get(path)).status_code


def asked(house: House, what: str) -> list[dict[str, Any]]:
    return [spec for kind, spec in house.hub.reviews.asked if kind == what]


async def test_one_question_serves_many_requests_of_one_new_token(house: House) -> None:
    waiting = asyncio.Event()
    plain = house.hub.review

    async def slow(kind: str, body: dict[str, Any]) -> dict[str, Any]:
        await waiting.wait()
        return await plain(kind, body)

    house.hub.review = slow  # type: ignore[method-assign]  # a hub that takes its time
    many = [asyncio.create_task(status(house, ADMIN)) for _ in range(20)]
    await asyncio.sleep(0.01)
    waiting.set()
    assert set(await asyncio.gather(*many)) == {200}
    assert len(asked(house, "TokenReview")) == len(asked(house, "SubjectAccessReview")) == 1


async def test_who_goes_away_does_not_take_the_answer_from_the_others(house: House) -> None:
    waiting = asyncio.Event()
    plain = house.hub.review

    async def slow(kind: str, body: dict[str, Any]) -> dict[str, Any]:
        await waiting.wait()
        return await plain(kind, body)

    house.hub.review = slow  # type: ignore[method-assign]  # a hub that takes its time
    first, second = (asyncio.create_task(status(house, ADMIN)) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    waiting.set()
    assert await second == 200


async def test_a_token_that_is_taken_away_is_good_for_a_minute_at_most(house: House) -> None:
    assert await status(house, ADMIN) == 200
    del house.hub.reviews.table[ADMIN]
    await house.clock.advance(59)
    assert await status(house, ADMIN) == 200
    await house.clock.advance(1)
    assert await status(house, ADMIN) == 401


async def test_a_token_that_becomes_good_is_good_after_ten_seconds(house: House) -> None:
    assert await status(house, "new-token") == 401
    house.hub.reviews.table["new-token"] = house.hub.reviews.table[ADMIN]
    await house.clock.advance(9)
    assert await status(house, "new-token") == 401
    await house.clock.advance(1)
    assert await status(house, "new-token") == 200


async def test_a_right_that_is_taken_away_is_gone_within_a_minute_and_one_given_is_there_after_ten_seconds(
    house: House,
) -> None:
    table = house.hub.reviews.table
    assert (await status(house, TENANT_A), await status(house, NOBODY)) == (200, 403)
    table[NOBODY] = type(table[NOBODY])("nobody", table[TENANT_A].rules)
    table[TENANT_A] = type(table[NOBODY])(table[TENANT_A].user, audiences=("fairway",))
    await house.clock.advance(10)
    assert (await status(house, TENANT_A), await status(house, NOBODY)) == (200, 200)
    await house.clock.advance(50)
    assert (await status(house, TENANT_A), await status(house, NOBODY)) == (403, 200)


async def test_without_the_hub_nobody_is_let_in_and_nobody_is_called_a_stranger(house: House) -> None:
    house.hub.away = True
    async with house.client(ADMIN) as client:
        got = await client.get(LIST)
    assert (got.status_code, got.json()["code"], "retry-after" in got.headers) == (503, "Unavailable", True)
    house.hub.away = False
    assert await status(house, ADMIN) == 200
    house.hub.away = True
    assert await status(house, ADMIN, "/v1/queues") == 503, "the token is known, the right is not"


async def test_a_hub_that_refuses_to_answer_lets_nobody_in(house: House) -> None:
    async def refuse(kind: str, body: dict[str, Any]) -> dict[str, Any]:
        raise ClusterRefused("Forbidden", "fairway may not create tokenreviews")

    house.hub.review = refuse  # type: ignore[method-assign]  # a hub with older rights
    async with house.client(ADMIN) as client:
        got = await client.get(LIST)
    assert (got.status_code, "deploy/hub/rights.yaml" in got.json()["detail"]) == (503, True)


_STRANGERS = {"username": "x", "groups": ["system:unauthenticated"]}
STRANGE: dict[str, tuple[dict[str, Any], int]] = {
    "an answer of another shape": ({"authenticated": "yes", "user": []}, 503),
    "a yes without a user": ({"authenticated": True}, 401),
    "a yes with an empty name": ({"authenticated": True, "user": {"username": ""}}, 401),
    "the server's word for a stranger": ({"authenticated": True, "user": {"username": "system:anonymous"}}, 401),
    "its group of strangers": ({"authenticated": True, "user": _STRANGERS}, 401),
    "no status": ({}, 401),
}


@pytest.mark.parametrize(("answer", "want"), STRANGE.values(), ids=list(STRANGE))
async def test_an_answer_that_is_no_clear_yes_is_a_no(house: House, answer: dict[str, Any], want: int) -> None:
    house.hub.reviews = lambda kind, body: answer
    assert await status(house, ADMIN) == want


async def test_a_token_of_another_audience_is_not_good_here(house: House) -> None:
    """A server that says yes, and for whom: an authenticator of its own that does not look at what was asked."""
    house.hub.reviews = lambda kind, body: {
        "authenticated": bool(body["spec"].get("audiences")),
        "user": {"username": "x"},
        "audiences": ["vault"],
    }
    assert await status(house, ADMIN) == 401


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer  two-blanks",
        "Bearer a b",
        "Basic YWRtaW46",
        "Token admin-token",
        "admin-token",
        "Bearer admin-token\tx",
        "Bearer " + "a" * 20_000,
        "Bearer admin-tok\u00e9n",
    ],
)
async def test_what_is_no_bearer_token_is_never_shown_to_the_hub(house: House, header: str) -> None:
    """Of `Bearer  x` an API server reads no token at all, and calls the caller system:anonymous."""
    async with house.client() as client:
        got = await client.get(LIST, headers={"Authorization": header.encode("latin-1")})
    assert got.status_code == 401
    assert house.hub.reviews.asked == []


async def test_of_two_tokens_none_counts(house: House) -> None:
    async with house.client() as client:
        both = [("Authorization", f"Bearer {NOBODY}"), ("Authorization", f"Bearer {ADMIN}")]
        assert (await client.get(LIST, headers=both)).status_code == 401


async def test_a_token_for_fairway_and_one_for_the_hub_itself_are_both_good(house: House) -> None:
    assert (await status(house, TENANT_A), await status(house, ADMIN)) == (200, 200)
    wanted = [tuple(spec.get("audiences", ())) for spec in asked(house, "TokenReview")]
    assert wanted == [(), ("fairway",), ()]


async def test_a_right_is_asked_as_the_caller_with_all_that_the_hub_said_of_them() -> None:
    clock = ManualClock(1)
    come = callers(clock)
    said: list[Any] = []
    assert come._hub is not None
    come._hub._hub.reviews = lambda kind, body: said.append(body["spec"]) or {"allowed": True}  # type: ignore[attr-defined]  # a memory cluster
    who = Caller("u", "uid-1", ("g1", "g2"), (("scopes", ("a", "b")),))
    assert await come.may(who, AccessQuestion("create", "pytorchjobs", "kubeflow.org", "team-a"))
    assert said == [
        {
            "user": "u",
            "uid": "uid-1",
            "groups": ["g1", "g2"],
            "extra": {"scopes": ["a", "b"]},
            "resourceAttributes": {
                "verb": "create",
                "group": "kubeflow.org",
                "resource": "pytorchjobs",
                "namespace": "team-a",
            },
        }
    ]
    other = Caller("u", "uid-1", ("g1",), (("scopes", ("a", "b")),))
    await come.may(other, AccessQuestion("create", "pytorchjobs", "kubeflow.org", "team-a"))
    assert len(said) == 2, "who is in fewer groups is another caller"


async def test_a_flood_of_bad_tokens_costs_the_hub_no_more_than_a_rate_and_keeps_no_known_caller_out() -> None:
    async with opened(HttpLimits(rate=5)) as house:
        assert await status(house, ADMIN) == 200
        await house.clock.advance(61)
        codes = [await status(house, f"bad-{n}") for n in range(100)]
        assert (codes.count(401), codes.count(429)) == (10, 90)
        assert len(asked(house, "TokenReview")) <= 21
        assert await status(house, ADMIN) == 200, "its token was good before, and is asked about again"


async def test_a_hub_that_is_busy_with_strangers_still_answers_about_those_it_knows(house: House) -> None:
    assert await status(house, ADMIN) == 200
    plain = house.hub.review

    async def stuck(kind: str, body: dict[str, Any]) -> dict[str, Any]:
        if body["spec"].get("token", "").startswith("bad"):
            await asyncio.Event().wait()
        return await plain(kind, body)

    house.hub.review = stuck  # type: ignore[method-assign]  # a hub whose webhook hangs
    await house.clock.advance(61)
    bad = [asyncio.create_task(status(house, f"bad-{n}")) for n in range(50)]
    await asyncio.sleep(0.01)
    async with asyncio.timeout(10):
        assert await status(house, ADMIN) == 200
    for one in bad:
        one.cancel()
    await asyncio.gather(*bad, return_exceptions=True)


async def test_a_caller_who_asks_too_much_is_told_when_to_come_back_and_others_are_served() -> None:
    async with opened(HttpLimits(rate=5)) as house, house.client(TENANT_A) as client:
        got = [await client.get(LIST) for _ in range(12)]
        assert [one.status_code for one in got] == [200] * 10 + [429] * 2
        assert (got[-1].headers["retry-after"], got[-1].json()["code"]) == ("1", "TooFast")
        assert await status(house, TENANT_B, "/v1/queues") == 200
        await house.clock.advance(1)
        assert (await client.get(LIST)).status_code == 200
