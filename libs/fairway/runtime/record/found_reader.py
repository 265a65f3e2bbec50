"""What decisions found, read back from stream FOUND where it was stored apart from their events."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import Raw, structs

from fairway.domain.decision import FoundApart
from fairway.domain.job import Job
from fairway.domain.text.decoding import decoder
from fairway.runtime.ports import Bus
from fairway.wire import jobs as wire
from fairway.wire import subjects, views
from fairway.wire.spec import NOTHING, Found, Written

# So many batches are remembered, those with the names of the clusters among them.
_KEPT = 32
_found = decoder(Found)
_packed = msgspec.msgpack.Decoder(Found).decode
_encode = msgspec.json.Encoder().encode
Message = TypeVar("Message", bound=wire.JobMessage)


class FoundReader:
    """Of one bus. What is not there (any more), or is of another job, is as if nothing had been found. Raises
    Unreachable."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._batches: dict[int, views.FoundBatch] = {}

    async def message(self, message: Message) -> Message:
        """With what was found, wherever it stands."""
        if not isinstance(message, wire.Placed | wire.Queue):
            return message
        found = await self._whole(message.job, message.found)
        return message if found is message.found else structs.replace(message, found=found)

    async def job(self, job: Job) -> Job:
        """Likewise: of its present placement, and of what sent it back."""
        placed = await self.message(job.placed) if job.placed is not None else None
        found = await self._whole(job.id, job.found)
        if placed is job.placed and found is job.found:
            return job
        return structs.replace(job, placed=placed, found=found)

    async def _whole(self, job: str, found: Written) -> Written:
        if not isinstance(found, Raw):
            return found
        ref = _found(bytes(found))
        if not ref.at:
            return found
        batch = await self._batch(ref.at)
        if batch is None or ref.record >= len(batch.records) or batch.records[ref.record].job != job:
            return NOTHING
        names = await self._batch(batch.clusters_at) if batch.clusters_at else batch
        if names is None or names.instance != batch.instance:
            return NOTHING
        return written(names.clusters, batch.records[ref.record].found)

    async def _batch(self, place: int) -> views.FoundBatch | None:
        known = self._batches.get(place)
        if known is not None:
            return known
        data = await self._bus.fetch(subjects.FOUND, place)
        if data is None:
            return None
        try:
            batch = views.found_batch(data)
        except msgspec.DecodeError:
            return None
        while len(self._batches) >= _KEPT:
            del self._batches[next(iter(self._batches))]
        self._batches[place] = batch
        return batch


def written(clusters: tuple[str, ...], packed: Raw) -> Raw:
    """As it would have gone along with the event."""
    return Raw(_encode(structs.replace(_packed(packed), clusters=clusters)))


def whole(event: Message, apart: Sequence[FoundApart]) -> Message:
    """An event of a step as it would have been said with what was found apart."""
    own = next((one for one in apart if one.rev == event.rev), None)
    return structs.replace(event, found=written(own.clusters, own.packed)) if own is not None else event
