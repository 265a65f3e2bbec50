"""Saying things on the bus until they are stored; each has an id, so that saying it again is safe."""

from collections.abc import Sequence

import msgspec
import structlog

from fairway.domain.decision import Say
from fairway.gateway.decide import outgoing_kind
from fairway.runtime.loop import World
from fairway.runtime.ports import Outgoing, Unreachable

log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode
_PIECE = 256


class Post:
    def __init__(self, world: World) -> None:
        self._world = world

    async def say(self, words: Sequence[Say]) -> None:
        """Returns when all of it is stored, however long the bus is away."""
        for start in range(0, len(words), _PIECE):
            piece = [
                Outgoing(one.id, one.subject, _encode(one.message), outgoing_kind(one), "/fairway/gateway")
                for one in words[start : start + _PIECE]
            ]
            while True:
                try:
                    await self._world.bus.publish(piece)
                    break
                except (Unreachable, OSError, TimeoutError) as error:
                    log.warning("waiting", service="gateway", cause=str(error))
                    await self._world.clock.sleep(0.5)
