"""Messages that a service cannot handle: they come again later, or are kept among the dead letters."""

from collections.abc import Callable, Sequence

import structlog

from fairway.runtime.inbox import Inbox, Item
from fairway.runtime.outside_calls import CallPlan
from fairway.runtime.ports import Clock
from fairway.runtime.publishing import Publishing
from fairway.runtime.record.dead_letters import dead_letter
from fairway.runtime.spoken_of import heard_of
from fairway.wire.reasons import Code, Reason, Refused

log = structlog.get_logger()
# A message that a handler fails on this often goes to the dead letters; the delay between tries doubles.
_TRIES = 6
_FIRST_DELAY_MS = 200


class Unhandled:
    """Of one service. `count` is told of each dead letter."""

    def __init__(self, inbox: Inbox, saying: Publishing, clock: Clock, count: Callable[[Code], None]) -> None:
        self._inbox = inbox
        self._saying = saying
        self._clock = clock
        self._count = count

    async def decoded(self, batch: Sequence[Item]) -> list[CallPlan]:
        """Those that decode."""
        plans = []
        for item in batch:
            try:
                plans.append(CallPlan(item, item.heard()))
            except Refused as refused:
                await self.bury(item, refused.reasons[0])
            except Exception as error:  # whatever it is: one message must not stop the others
                why = Reason(Code.UNDECODABLE, f"the message does not decode: {error}", remedy="fix its sender")
                await self.bury(item, why)
        return plans

    async def failed(self, plan: CallPlan, error: BaseException) -> None:
        """A handler raised: try again with growing delay, then keep the message where an operator finds it."""
        log.error("handler failed", **heard_of(plan.heard), error=repr(error), delivered=plan.heard.delivered)
        if plan.heard.delivered < _TRIES and plan.item.durable:
            plan.item.later(_FIRST_DELAY_MS * 2**plan.heard.delivered)
            return
        why = Reason(Code.HANDLER_FAILED, f"{type(error).__name__}: {error}", remedy="see the service's log")
        await self.bury(plan.item, why)

    async def bury(self, item: Item, why: Reason) -> None:
        self._count(why.code)
        await self._saying.insist([dead_letter(self._saying.service, item, why, self._clock.now())])
        self._inbox.ack([item])
