"""The gateway's part of the audit: what a caller did is stored before they are answered; what they were refused is
counted, and told some seconds later."""

import asyncio

import msgspec
import structlog

from fairway.domain.decision import Say
from fairway.gateway.audit.denials import SERVICE, Denials, deed
from fairway.gateway.callers.access import Access
from fairway.gateway.callers.caller import AccessQuestion
from fairway.gateway.http.outgoing import outgoing
from fairway.runtime.ports import Unreachable, World
from fairway.runtime.record.audited import audited
from fairway.runtime.record.publishable import Unsayable

log = structlog.get_logger()
# A process that dies has not told of what it refused in so many seconds.
PERIOD_S = 10


class AuditTrail:
    def __init__(self, world: World) -> None:
        self._world = world
        self._denials = Denials()
        self._telling: asyncio.Task[None] | None = None

    def did(self, access: Access, ask: AccessQuestion) -> Say:
        """What is to be stored with what they do, or before they are shown it."""
        return audited(SERVICE, deed(access.actor, ask, self._world.clock.now()))

    def refused(self, access: Access) -> None:
        for ask in access.refused:
            self._denials.put(access.actor, ask)
        if access.refused and self._telling is None:
            self._telling = asyncio.create_task(self._tell())

    async def close(self) -> None:
        if self._telling is not None:
            self._telling.cancel()

    async def _tell(self) -> None:
        """What was refused until then. It stands in the log while the bus is away, or where that can never store it."""
        await self._world.clock.sleep(PERIOD_S)
        self._telling = None
        said = self._denials.take(self._world.clock.now())
        try:
            await self._world.bus.publish(list(map(outgoing, said)))
        except (Unreachable, OSError, TimeoutError) as error:
            log.warning("refusals are not in the audit", cause=str(error), refusals=[one.message for one in said])
        except Unsayable as error:
            for each in error.refused:
                what = {"kind": each.message.kind, "refusal": msgspec.json.decode(each.message.data)}
                log.error("a refusal is not in the audit", cause=each.why.text, remedy=each.why.remedy, **what)
