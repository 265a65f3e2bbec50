"""Pull requests of one reader of a consumer: where it asks, where the answers come, and when one came last."""

import asyncio

from nats.aio.client import Client

from fairway.adapters.nats.connection import Close, Hear, Wire
from fairway.adapters.nats.credit import HEARTBEAT_S


class PullRequests:
    def __init__(self, client: Client, wire: Wire, at: tuple[str, str]) -> None:
        """To the consumer `at` stream and name."""
        self._nc = client
        self._wire = wire
        self._subject = "$JS.API.CONSUMER.MSG.NEXT.{}.{}".format(*at)
        self.inbox = client.new_inbox()
        self._sign_of_life = 0.0
        self._close: Close | None = None

    async def open(self, hear: Hear) -> None:
        self._close = await self._wire.listen(self.inbox, hear)

    @property
    def is_open(self) -> bool:
        return self._close is not None

    @property
    def connected(self) -> bool:
        return self._nc.is_connected

    async def ask(self, request: bytes) -> None:
        self.answered()
        await self._nc.publish(self._subject, request, reply=self.inbox)

    def answered(self) -> None:
        self._sign_of_life = asyncio.get_running_loop().time()

    @property
    def silent(self) -> bool:
        """Nothing came for two heartbeats."""
        return asyncio.get_running_loop().time() - self._sign_of_life > 2.5 * HEARTBEAT_S

    def closed(self) -> Close | None:
        """Nobody is to ask again. What ends the listening; None when that was ended before, or the connection was."""
        close = self._close
        self._close = None
        return None if self._nc.is_closed else close
