"""For every test: one real NATS and one real Valkey for each test process, started when first asked for.

They are shared by the tests of that process: use your own stream prefix and key prefix, or `flush` first.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import zip_longest
from pathlib import Path

import pytest
import redis

from fairway.adapters.embedded import EmbeddedServer, nats_server, valkey_server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole fleets first, the longest before all, and in between what is soon over: a worker has two tests in hand."""
    fleets = [one for one in items if one.path.parent.name in ("end_to_end", "faults")]
    fleets.sort(key=lambda one: one.path.stem != "test_kill")
    half = (len(fleets) + 1) // 2
    pairs = zip_longest(fleets[:half], fleets[half:])
    items[:] = [one for pair in pairs for one in pair if one] + [one for one in items if one not in fleets]


def _served(start: Callable[[Path], Awaitable[EmbeddedServer]], dir: Path) -> Iterator[EmbeddedServer]:
    # A loop factory of our own keeps asyncio.Runner from touching the loop that pytest-asyncio set.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:

        async def up() -> EmbeddedServer:
            return await start(dir)

        server = runner.run(up())
        yield server
        runner.run(server.stop())


@pytest.fixture(scope="session")
def nats_embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """The shared NATS. Do not stop it: a test of failure starts its own."""
    yield from _served(nats_server, tmp_path_factory.mktemp("nats"))


@pytest.fixture(scope="session")
def valkey_embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """The shared Valkey. Do not stop it: a test of failure starts its own."""
    yield from _served(valkey_server, tmp_path_factory.mktemp("valkey"))


@pytest.fixture(scope="session")
def nats_url(nats_embedded: EmbeddedServer) -> str:
    return nats_embedded.url


@pytest.fixture(scope="session")
def valkey_url(valkey_embedded: EmbeddedServer) -> str:
    return valkey_embedded.url


@pytest.fixture
def flush(valkey_url: str) -> Callable[[], None]:
    """Empty the shared Valkey."""

    def empty() -> None:
        with redis.Redis.from_url(valkey_url) as client:
            client.flushall()

    return empty
