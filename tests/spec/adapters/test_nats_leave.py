"""A connection that is closed just as it was lost."""

import asyncio

import pytest
from nats.aio.client import Client

from fairway.adapters.nats.connection import leave


class Losing(Client):
    """As nats-py: the task that was to connect again waits for the end of the lost connection, and so does `close`."""

    def __init__(self, end: "asyncio.Future[None]", reconnects: bool) -> None:
        super().__init__()
        self.end = end
        self.again = asyncio.ensure_future(self._ended()) if reconnects else None

    async def _ended(self) -> None:
        await self.end

    async def close(self) -> None:
        await asyncio.sleep(0)
        if self.again is not None:
            self.again.cancel()
        await asyncio.sleep(0)
        await self.end


async def test_what_it_cancels_itself_ends_nobody() -> None:
    await asyncio.wait_for(leave(Losing(asyncio.get_running_loop().create_future(), reconnects=True)), 10)


async def test_who_closes_it_may_be_cancelled() -> None:
    task = asyncio.ensure_future(leave(Losing(asyncio.get_running_loop().create_future(), reconnects=False)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
