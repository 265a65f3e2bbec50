"""The record as it was at one moment, for a rebuild that is a trial: nobody else hears of it."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import nats.errors

from fairway.adapters.nats.bus import NatsBus
from fairway.runtime.ports import Delivery, Outgoing, Unreachable
from fairway.wire import subjects
from fairway.wire.subjects import matches


async def newest(bus: NatsBus) -> int:
    """The place of the newest message of the record; 0 when it is empty. Unreachable when NATS does not say."""
    try:
        return (await bus.client.jetstream().stream_info(subjects.JOBS)).state.last_seq
    except (nats.errors.Error, TimeoutError) as error:
        raise Unreachable(f"the record could not be looked at: {error}") from error


class NatsPast:
    """What a rebuild needs of a bus: the record up to place `last`, and behind it what was published here."""

    def __init__(self, bus: NatsBus, last: int) -> None:
        self._bus = bus
        self._last = last
        self._said: list[Delivery] = []
        self.read = 0

    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> int:
        for one in messages:
            self._said.append(Delivery(one.id, one.subject, one.data, self._last + len(self._said) + 1))
        return self._last + len(self._said)

    async def history(
        self, stream: str, subjects: Sequence[str] = (), start: int = 1, live: bool = False, last: bool = False
    ) -> AsyncGenerator[Delivery, None]:
        async with aclosing(self._bus.history(stream, subjects, start)) as past:
            async for one in past:
                if one.sequence > self._last:
                    break
                self.read += 1
                yield one
        for one in self._said:
            if not subjects or any(matches(pattern, one.subject) for pattern in subjects):
                yield one
