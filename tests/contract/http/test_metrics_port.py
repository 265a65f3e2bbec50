"""Metrics have a port of their own, which answers to loopback names only unless it is meant for others."""

from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter
from starlette.responses import PlainTextResponse

from fairway.process.main import Process
from fairway.process.metrics_port import MetricsPage
from fairway.process.settings import Settings

REGISTRY = CollectorRegistry()
Counter("fairway_seen", "Seen.", registry=REGISTRY).inc()


async def counted() -> CollectorRegistry:
    return REGISTRY


async def nothing() -> None:
    return None


def client(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


def page(host: str = "127.0.0.1", counted: Any = counted) -> httpx.AsyncClient:
    return client(MetricsPage(host, counted, PlainTextResponse("alive")))


@pytest.mark.parametrize(
    ("path", "name", "code", "says"),
    [
        pytest.param("/metrics", "127.0.0.1:9090", 200, "fairway_seen_total 1.0", id="metrics"),
        pytest.param("/metrics/", "localhost:9090", 200, "fairway_seen_total 1.0", id="with a slash"),
        pytest.param("/metrics", "[::1]:9090", 200, "fairway_seen_total 1.0", id="by IPv6"),
        pytest.param("/healthz", "127.0.0.1", 200, "alive", id="health"),
        pytest.param("/metrics", "evil.example", 421, "loopback names", id="a name of another site that points here"),
        pytest.param("/healthz", "evil.example", 421, "loopback names", id="health by that name"),
        pytest.param("/metrics", "127.0.0.1.evil.example", 421, "loopback names", id="a name that looks like it"),
        pytest.param("/v1/jobs", "127.0.0.1", 404, "nothing is served here", id="what the door has"),
    ],
)
async def test_what_it_answers(path: str, name: str, code: int, says: str) -> None:
    answer = await page().get(path, headers={"Host": name})
    assert (answer.status_code, says in answer.text) == (code, True), answer.text


async def test_a_port_for_others_answers_to_any_name() -> None:
    answer = await page("0.0.0.0").get("/metrics", headers={"Host": "fairway.example:9090"})
    assert answer.status_code == 200


async def test_before_the_bus_was_reached_there_is_nothing_to_tell() -> None:
    answer = await page(counted=nothing).get("/metrics")
    assert (answer.status_code, answer.text) == (503, "the bus was not reached yet\n")


async def test_the_door_has_no_metrics() -> None:
    """Every path that is not the process's health is the door's, which asks who comes."""
    process = Process(("gateway",), Settings())
    asked = []

    async def door(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["path"])
        await PlainTextResponse("who?", 401)(scope, receive, send)

    process.door = door
    asking = client(process)
    assert [(await asking.get(path)).status_code for path in ("/metrics", "/metrics/", "/healthz")] == [401, 401, 200]
    assert asked == ["/metrics", "/metrics/"]
