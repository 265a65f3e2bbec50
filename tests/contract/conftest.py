"""Each bus and each store in turn, for the tests of what all of them promise."""

from collections.abc import AsyncIterator

import pytest
from letters_house import bench
from twins import BUSES, STORES, opened_bus, opened_store

from fairway.runtime.ports import Bus, Store

__all__ = ["bench"]  # a fixture, for the tests of dead letters


@pytest.fixture(params=BUSES)
async def bus(request: pytest.FixtureRequest, nats_url: str) -> AsyncIterator[Bus]:
    async with opened_bus(request.param, nats_url) as opened:
        yield opened


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, valkey_url: str) -> AsyncIterator[Store]:
    async with opened_store(request.param, valkey_url) as opened:
        yield opened
