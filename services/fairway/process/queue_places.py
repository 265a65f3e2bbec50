"""Where jobs stand in their queues: asked on the bus, and answered from memory by whoever has the answer."""

from collections.abc import Callable

import msgspec
from faststream.nats import NatsBroker, NatsMessage

from fairway.domain.text.decoding import decoder
from fairway.process.wiring import Parts
from fairway.queue.position import answer
from fairway.wire import asks

_asked = decoder(asks.QueueAsk)


def answers(broker: NatsBroker, parts: Callable[[], Parts | None]) -> None:
    """For a process that runs the queue service; its `parts` are there a while after it began."""

    @broker.subscriber(asks.QUEUE)
    async def where(message: NatsMessage) -> bytes:
        try:
            asked = _asked(message.body)
        except msgspec.DecodeError:
            asked = asks.QueueAsk("")  # of nothing that waits
        return msgspec.json.encode(_places(parts(), asked))


def _places(parts: Parts | None, asked: asks.QueueAsk) -> asks.QueueAnswer:
    """An empty place for one that does not wait."""
    if parts is None or not parts.queues or not parts.loops["queue"].ready:
        return asks.QueueAnswer(queue="")
    return answer(parts.queues[-1], asked, parts.clock.now())
