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
# And of so many, which have waited or run for longest: each takes a consumer, and a server counts that for a minute.
_MOST_LOOKS = 100
Counts = Callable[[JobMessage, int], bool]


async def resumed(bus: Bus, counts: Counts, memory: KeeperMemory) -> int:
    """The place behind which the record is to be read; the memory, a new one, knows what is needed of all before.
    `counts` tells which messages of the record do. Unreachable when the bus is away."""
    upto = await _upto(bus)
    looks = 0
    for one in await _there(bus, upto) if upto else ():
        message = message_of(one)
        if isinstance(message, wire.Manifested):
            memory.read(one, message)
        if isinstance(message, wire.Submitted) and looks < _MOST_LOOKS:
            looks += 1
            await _answer(bus, memory, one, message.tenant, counts)
        if memory.open(one.sequence):
            return one.sequence - 1  # the others are behind it, and come with what is read from there
    return upto


async def _upto(bus: Bus) -> int:
    found = 0
    async for one in bus.history(subjects.JOBS, filters(wire.ManifestsRemoved), last=True):
        message = message_of(one)
        if isinstance(message, wire.ManifestsRemoved):
            found = max(found, message.upto)
    return found


async def _there(bus: Bus, upto: int) -> list[Delivery]:
    """With the words of keepers: if another one is at work, what this is told of last must not be what that deletes, or
    it would be waited for."""
    found = []
    where = filters(wire.Submitted, wire.Revise, wire.ManifestsRemoved)
    async with aclosing(bus.history(subjects.JOBS, where)) as past:
        async for one in past:
            if one.sequence > upto:
                break
            found.append(one)
    return found


async def _answer(bus: Bus, memory: KeeperMemory, one: Delivery, tenant: str, counts: Counts) -> None:
    where = subjects.job(wire.Admitted.verb, tenant)
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
