"""The dead letters as the stream keeps them: read, said again, dropped. For an operator's commands."""

from collections.abc import AsyncIterator

import msgspec
import nats.errors
from nats.js.api import PubAck

from fairway.adapters.nats.bundle import messages
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.connection import headers_of
from fairway.adapters.nats.publisher import StoredMessage, stored_at
from fairway.runtime.ports import Outgoing, Unreachable
from fairway.runtime.record import dead_letter_retry
from fairway.runtime.record.kept_letters import KeptLetter, kept_letter
from fairway.runtime.record.publishable import renamed, same
from fairway.runtime.record.working_sets import working_sets
from fairway.wire import subjects
from fairway.wire.reasons import Refused

_WAIT_S = 5.0


class NatsLetters:
    """Raises Unreachable when NATS does not answer."""

    def __init__(self, bus: NatsBus) -> None:
        self._bus = bus
        self._js = bus.client.jetstream()

    async def all(self, service: str = "") -> AsyncIterator[KeptLetter]:
        """Oldest first; of one service if it is named."""
        only = (subjects.dead_letter(service),) if service else ()
        async for one in self._bus.history(subjects.DLQ, only):
            yield kept_letter(one.sequence, one.data)

    async def one(self, number: int) -> KeptLetter | None:
        data = await self._bus.fetch(subjects.DLQ, number)
        return None if data is None else kept_letter(number, data)

    async def counts(self) -> dict[str, int]:
        """How many there are, by the service's token in the subject."""
        try:
            info = await self._js.stream_info(subjects.DLQ, subjects_filter=">")
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"the dead letters could not be counted: {error}") from error
        return {subject.rpartition(".")[2]: count for subject, count in (info.state.subjects or {}).items()}

    async def retry(self, kept: KeptLetter) -> None:
        """Says the message again, and takes the letter away once it stands in the record where it counts. Refused when
        it does not: the letter stays. Done twice it is done once. A letter proves nothing: anybody may have written it,
        so the message has to stand where it says that it stood."""
        message = dead_letter_retry.again(kept.letter, await working_sets(self._bus))
        stood = await self._stored(kept.letter.sequence)
        if stood is None or stood.subject != kept.letter.subject:
            raise dead_letter_retry.not_there(kept.letter)
        if kept.letter.data not in messages(stood.hdrs, stood.data):  # one of them, and not some piece of it
            raise dead_letter_retry.not_there(kept.letter)
        stands = await self._publish(message)
        if stands == kept.letter.sequence:
            text = f"the bus still knows message {stands} of {kept.letter.stream}, and would not store it a second time"
            raise dead_letter_retry.too_soon(text)
        stored = await self._bus.fetch(subjects.JOBS, stands)
        try:
            dead_letter_retry.check(stored or b"", stands, await working_sets(self._bus))
        except Refused:
            text = "the working set was rebuilt while the message was on its way"
            raise dead_letter_retry.too_soon(text) from None
        await self.drop(kept.number)

    async def drop(self, number: int) -> None:
        """One that is gone already is no error."""
        try:
            await self._js.delete_msg(subjects.DLQ, number)
        except (nats.errors.Error, TimeoutError) as error:
            if await self._bus.fetch(subjects.DLQ, number) is not None:
                raise Unreachable(f"letter {number} was not deleted: {error}") from error

    async def _stored(self, sequence: int) -> StoredMessage | None:
        try:
            return await stored_at(self._bus.client, subjects.JOBS, sequence)
        except (nats.errors.Error, TimeoutError, msgspec.DecodeError) as error:
            raise Unreachable(f"message {sequence} of the record could not be read: {error}") from error

    async def _publish(self, message: Outgoing) -> int:
        """The place where the stream has it: a new one, or the one where it has it already. Where that is another
        message, which took its id, it is said under another."""
        while True:
            ack = await self._acked(message)
            stored = await self._stored(ack.seq) if ack.duplicate else None
            if not ack.duplicate or (stored is not None and same(message, stored.subject, stored.data)):
                return ack.seq
            message = renamed(message)

    async def _acked(self, message: Outgoing) -> PubAck:
        headers = headers_of(message)
        try:
            return await self._js.publish(message.subject, message.data, timeout=_WAIT_S, headers=headers)
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"the message was not stored: {error}") from error
