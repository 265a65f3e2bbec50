"""Where a keeper that starts goes on: found in the record itself, and without reading what is behind it again.

The last word of a keeper says up to where everything that was due is gone. So of what was submitted before, only what
belonged to jobs that had not ended by then is still there. It is read, and that each was admitted, which stands close
behind.
"""

from collections.abc import Callable
from contextlib import aclosing

from fairway.keeper.memory import KeeperMemory
from fairway.runtime.ports import Bus, Delivery
from fairway.runtime.record.senders import message_of
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.flow import filters
from fairway.wire.jobs import JobMessage

# An answer is looked for in so many messages. What nobody has answered by then is read on from, as any other part of
# the record: admission was away, or it repeats another and is removed once admission is known to have handled it.
_MOST_BETWEEN = 200
Counts = Callable[[JobMessage, int], bool]


async def resumed(bus: Bus, counts: Counts) -> tuple[KeeperMemory, int]:
    """The memory, and the place behind which the record is to be read. `counts` tells which messages of the record
    do. Unreachable when the bus is away."""
    upto = await _upto(bus)
    memory = KeeperMemory()
    for one in await _there(bus, upto) if upto else ():
        message = message_of(one)
        if isinstance(message, wire.Manifested):
            memory.read(one, message)
            await _answer(bus, memory, one, message, counts)
    places = [place for place in memory.places if memory.open(place)]
    return memory, min([upto, *(place - 1 for place in places)])


async def _upto(bus: Bus) -> int:
    found = 0
    async for one in bus.history(subjects.JOBS, filters(wire.ManifestsRemoved), last=True):
        message = message_of(one)
        if isinstance(message, wire.ManifestsRemoved):
            found = max(found, message.upto)
    return found


async def _there(bus: Bus, upto: int) -> list[Delivery]:
    found = []
    async with aclosing(bus.history(subjects.JOBS, filters(wire.Submitted, wire.Revise))) as past:
        async for one in past:
            if one.sequence > upto:
                break
            found.append(one)
    return found


async def _answer(bus: Bus, memory: KeeperMemory, one: Delivery, message: wire.Manifested, counts: Counts) -> None:
    """Another manifest belongs to the job that it names."""
    if isinstance(message, wire.Revise):
        return
    where = subjects.job(wire.Admitted.verb, message.tenant)
    looked = 0
    async with aclosing(bus.history(subjects.JOBS, (where,), start=one.sequence)) as past:
        async for each in past:
            answer = message_of(each)
            if isinstance(answer, wire.Admitted) and answer.cause == one.id and counts(answer, each.sequence):
                memory.read(each, answer)
                return
            looked += 1
            if looked == _MOST_BETWEEN:
                return
