"""What the door counts of requests: by the words of its own table, whatever the requests say."""

import httpx
import pytest

from fairway.gateway.http.event_stream import Streams
from fairway.runtime.metrics.accumulators import Durations
from tests.spec.builders.lives import running
from tests.support.http_door import NOBODY, TENANT_A, TENANT_B, House, opened


def told(house: House, name: str) -> dict[tuple[str, ...], float]:
    samples = [one for one in house.callers.counts.samples() if one[0] == f"fairway_{name}"]
    return {labels: v.count if isinstance(v, Durations) else v for _, labels, v in samples if not _zero(v)}


def _zero(value: float | Durations) -> bool:
    return (value.count if isinstance(value, Durations) else value) == 0


async def test_requests_are_counted_by_route_and_never_by_path() -> None:
    async with opened() as house:
        await house.has(running().now)
        for path in ("/v1/jobs/llm-1", "/v1/jobs/b-2?x=1", "/v1/jobs/c/why", "/v1/jobs", "/etc/passwd", "/v1/nothing"):
            await house.http.get(path)
        await house.http.request("BREW", "/v1/queues")
        await house.http.delete("/v1/queues")
        requests = told(house, "http_requests_total")
        routes = {"/v1/jobs", "/v1/jobs/{id}", "/v1/jobs/{id}/why", "/v1/queues", "other"}
        assert {route for route, _, _ in requests} == routes
        assert requests["other", "GET", "404"] == 2
        assert requests["/v1/queues", "other", "405"] == 1
        assert requests["/v1/queues", "DELETE", "405"] == 1
        assert sum(told(house, "http_request_duration_seconds").values()) == sum(requests.values()) == 8


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        pytest.param({}, "NoToken", id="no token"),
        pytest.param({"Authorization": "Basic eDp5"}, "BadHeader", id="another scheme"),
        pytest.param({"Authorization": "Bearer wrong"}, "BadToken", id="a token that nobody gave"),
    ],
)
async def test_who_could_not_come_is_counted_by_why(headers: dict[str, str], reason: str) -> None:
    async with opened() as house:
        answer = await house.client().get("/v1/jobs", headers=headers)
        assert answer.status_code == 401
        assert told(house, "authn_failures_total") == {(reason,): 1}
        assert told(house, "http_requests_total") == {("/v1/jobs", "GET", "401"): 1}


async def test_a_hub_that_does_not_say_is_no_wrong_token() -> None:
    async with opened() as house:
        house.hub.away = True
        assert (await house.client(TENANT_A).get("/v1/jobs")).status_code == 503
        assert told(house, "authn_failures_total") == {("HubAway",): 1}


async def test_what_was_not_allowed_is_counted_though_who_asked_learns_nothing() -> None:
    async with opened() as house:
        await house.has(running().now)
        assert (await house.client(NOBODY).get("/v1/quota")).status_code == 403
        assert (await house.client(TENANT_B).get("/v1/jobs/llm-1")).status_code == 404
        assert (await house.client(TENANT_A).get("/v1/jobs")).status_code == 200
        denied = told(house, "authz_denied_total")
        assert denied == {("list", "quotas"): 1, ("get", "jobs"): 1}
        assert told(house, "access_review_duration_seconds")[()] >= 3


async def test_a_request_that_fails_is_counted_as_such() -> None:
    async with opened() as house:
        house.store.read = None  # type: ignore[method-assign,assignment]  # whatever is wrong with it
        transport = httpx.ASGITransport(house.app, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=house.http.headers)
        assert (await client.get("/v1/jobs/llm-1")).status_code == 500
        assert told(house, "http_requests_total") == {("/v1/jobs/{id}", "GET", "500"): 1}


async def test_open_streams_are_told() -> None:
    async with opened() as house:
        streams = Streams(house.world)
        assert (streams.open, told(house, "event_streams")) == (0, {})
        with streams._all.take("team-a"):
            assert streams.open == 1
