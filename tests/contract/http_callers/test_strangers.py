"""Who floods the door with tokens that are not good keeps nobody out who has a good one, and costs the hub no more than
a rate: at one address, and behind a proxy, where everybody has the same one."""

import base64
import json
from collections.abc import AsyncIterator
from ipaddress import ip_network

import pytest
import pytest_asyncio
from starlette.requests import Request

from fairway.gateway.callers.hosts import Hosts, Networks
from fairway.gateway.callers.rate_limits import HttpLimits
from tests.support.http_door import ADMIN, TENANT_A, TENANT_B, House, opened

RATE = 5
PATH = "/v1/queues"
PROXIES: Networks = (ip_network("127.0.0.1"), ip_network("10.2.0.0/16"))


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened(HttpLimits(rate=RATE)) as one:
        yield one


def formed(subject: str, number: int = 0, issuer: str = "https://hub") -> str:
    """A token with the form of those of Kubernetes. Its signature is for the hub to look at."""
    said = {"iss": issuer, "sub": subject, "aud": ["fairway"], "jti": str(number)}
    head, body = (base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in ({}, said))
    return f"{head}.{body}.c2lnbmF0dXJl"


def good(house: House, token: str) -> str:
    house.hub.reviews.table[token] = house.hub.reviews.table[TENANT_A]
    return token


async def status(house: House, token: str, path: str = PATH, via: str = "") -> int:
    async with house.client(token) as client:
        return (await client.get(path, headers={"X-Forwarded-For": via} if via else {})).status_code


def reviews(house: House) -> int:
    return sum(kind == "TokenReview" for kind, _ in house.hub.reviews.asked)


async def test_a_flood_of_one_bad_token_takes_nothing_of_a_good_one(house: House) -> None:
    codes = [await status(house, "nope") for _ in range(100)]
    assert (set(codes), reviews(house)) == ({401, 429}, 2)
    assert await status(house, TENANT_B) == 200


async def test_a_flood_of_requests_without_a_token_takes_nothing_of_a_good_one(house: House) -> None:
    assert {await status(house, "") for _ in range(100)} == {401, 429}
    assert await status(house, TENANT_B) == 200


async def test_a_flood_of_junk_takes_nothing_of_what_has_the_form_of_a_token(house: House) -> None:
    token = good(house, formed("system:serviceaccount:team-a:ci"))
    codes = [await status(house, f"junk-{number}") for number in range(200)]
    assert codes.count(429) == 200 - 2 * RATE
    assert await status(house, token) == 200


async def test_a_flood_that_claims_one_subject_takes_nothing_of_another(house: House) -> None:
    token = good(house, formed("system:serviceaccount:team-a:ci"))
    for number in range(200):
        await status(house, formed("system:serviceaccount:team-b:x", number))
    assert await status(house, token) == 200
    assert reviews(house) <= 2 * RATE + 2


async def test_a_flood_that_claims_ever_new_subjects_takes_nothing_of_one_that_was_good_before(house: House) -> None:
    subject = "system:serviceaccount:team-a:ci"
    assert await status(house, good(house, formed(subject, 1))) == 200
    before = reviews(house)
    for number in range(200):
        await status(house, formed(f"nobody-{number}"))
    assert reviews(house) - before <= 2 * 2 * RATE, "two questions a token: for Fairway, and for the hub itself"
    assert await status(house, good(house, formed(subject, 2))) == 200, "its token was renewed"
    assert await status(house, good(house, formed("new"))) == 429, "of this one nothing is known"


async def test_who_floods_in_the_name_of_a_known_subject_does_not_ask_the_hub_more_than_a_rate(house: House) -> None:
    assert await status(house, good(house, formed("ci", 1))) == 200
    before = reviews(house)
    codes = [await status(house, formed("ci", number)) for number in range(2, 100)]
    assert (codes.count(401), reviews(house) - before) == (4, 8), "five in one breath, and the good one was the first"
    assert await status(house, formed("ci", 1)) == 200


async def test_a_claim_opens_no_door(house: House) -> None:
    assert await status(house, good(house, formed("ci", 1))) == 200
    assert await status(house, formed("ci", 2)) == 401


async def test_behind_a_trusted_proxy_each_client_has_an_address_of_its_own() -> None:
    async with opened(HttpLimits(rate=RATE), proxies=PROXIES) as house:
        for number in range(100):
            await status(house, f"junk-{number}", via="203.0.113.9")
        assert await status(house, TENANT_B, via="203.0.113.9") == 429
        assert await status(house, TENANT_B, via="203.0.113.9, 198.51.100.4") == 200


async def test_without_a_trusted_proxy_nobody_says_where_they_come_from(house: House) -> None:
    for number in range(100):
        await status(house, f"junk-{number}", via=f"203.0.113.{number}")
    assert await status(house, ADMIN, via="198.51.100.4") == 429


@pytest.mark.parametrize(
    ("peer", "forwarded", "want"),
    [
        pytest.param("127.0.0.1", ["203.0.113.9"], "203.0.113.9", id="one hop"),
        pytest.param("127.0.0.1", ["1.1.1.1, 203.0.113.9"], "203.0.113.9", id="what the client says stands first"),
        pytest.param("127.0.0.1", ["1.1.1.1", "203.0.113.9"], "203.0.113.9", id="in two lines"),
        pytest.param("10.2.3.4", ["203.0.113.9:55123"], "203.0.113.9", id="with a port"),
        pytest.param("10.2.3.4", ["[2001:db8::1]:443"], "2001:db8::1", id="with a port, IPv6"),
        pytest.param("10.2.3.4", ["2001:db8::1"], "2001:db8::1", id="IPv6"),
        pytest.param("10.2.3.4", [], "10.2.3.4", id="a proxy that says nothing"),
        pytest.param("10.2.3.4", ["unknown"], "10.2.3.4", id="a proxy that says no address"),
        pytest.param("10.3.3.4", ["203.0.113.9"], "10.3.3.4", id="another machine"),
        pytest.param("", ["203.0.113.9"], "", id="nobody knows who"),
    ],
)
def test_where_a_request_comes_from(peer: str, forwarded: list[str], want: str) -> None:
    headers = [(b"x-forwarded-for", one.encode()) for one in forwarded]
    scope = {"type": "http", "headers": headers, "client": (peer, 1) if peer else None}
    assert Hosts((), PROXIES).address(Request(scope)) == want
