"""Each bus and each store in turn, for the tests of what all of them promise."""

from collections.abc import AsyncIterator, Iterator

import pytest

from fairway.runtime.ports import Bus, Store
from tests.support.bus_users import server, without_streams
from tests.support.dead_letters import bench
from tests.support.standing import standing
from tests.support.twins import BUSES, STORES, opened_bus, opened_store

__all__ = ["bench"]  # a fixture, for the tests of dead letters


@pytest.fixture(params=BUSES)
async def bus(request: pytest.FixtureRequest, nats_url: str) -> AsyncIterator[Bus]:
    async with opened_bus(request.param, nats_url) as opened:
        yield opened


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, valkey_url: str) -> AsyncIterator[Store]:
    async with opened_store(request.param, valkey_url) as opened:
        yield opened


@pytest.fixture(scope="session")
def strict_accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from standing(lambda: server(tmp_path_factory.mktemp("strict"), "strict: true"))


@pytest.fixture(scope="session")
def lax_accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from standing(lambda: server(tmp_path_factory.mktemp("lax"), "strict: false"))


@pytest.fixture
async def where(strict_accounts: str) -> str:
    """Host and port of a bus with the accounts of deploy/nats/members.conf, on which nothing is kept yet."""
    return await without_streams(strict_accounts)
