"""A fleet of two clusters: c1 with two nodes of eight GPUs, c2 with one."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.scenarios.memory_fleet import Fleet, running


@pytest_asyncio.fixture
async def fleet() -> AsyncIterator[Fleet]:
    async with running(c1=(8, 8), c2=(8,)) as found:
        yield found
        assert found.findings().violations == ()
        assert not found.bus.stored("DLQ")
