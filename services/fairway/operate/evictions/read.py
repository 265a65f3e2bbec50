"""What `fairway evictions` reads: the record of jobs, and beside it what was decided."""

from collections.abc import AsyncIterator

import msgspec

from fairway.adapters.nats.bus import NatsBus
from fairway.client.api import Api
from fairway.client.failure import ERROR, Failure
from fairway.domain.text.decoding import decoder
from fairway.operate import servers
from fairway.operate.evictions.told_evictions import (
    Eviction,
    EvictionFilter,
    by_claim,
    eviction_of,
    newest_first,
    of_story,
)
from fairway.runtime.record.senders import message_of
from fairway.runtime.record.working_sets import working_sets
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.flow import filters
from fairway.wire.preemption.evictions import Evict

# Decisions come before their evictions: by no more than this (ms).
_BEFORE_MS = 600_000
_evict = decoder(Evict)


async def found(asked: EvictionFilter) -> list[Eviction]:
    async with servers.bus(servers.settings()) as bus:
        return await told(bus, asked)


async def told(bus: NatsBus, asked: EvictionFilter) -> list[Eviction]:
    decisions = by_claim([one async for one in _decisions(bus, max(0, asked.since - _BEFORE_MS))])
    return newest_first([eviction_of(one, decisions) async for one in _evicted(bus, asked.since)], asked)


def of_job(api: Api, job: str, namespace: str, asked: EvictionFilter) -> list[Eviction]:
    """Of one job, as whoever asks may see it."""
    story = api.get(f"/v1/jobs/{api.find(job, namespace)}/story")
    try:
        return newest_first(of_story(story.get("record", ())), asked)
    except msgspec.ValidationError as error:
        raise Failure(ERROR, f"the gateway's answer is not understood: {error}", "is it of this version?") from None


async def _decisions(bus: NatsBus, since: int) -> AsyncIterator[Evict]:
    async for one in bus.since(subjects.RELIEF, filters(Evict), since):
        try:
            yield _evict(one.data)
        except msgspec.DecodeError:
            continue  # whoever hears it has put it among the dead letters


async def _evicted(bus: NatsBus, since: int) -> AsyncIterator[wire.Evicted]:
    sets = await working_sets(bus)
    seen = set()
    async for one in bus.since(subjects.JOBS, filters(wire.Evicted), since):
        message = message_of(one)
        if not isinstance(message, wire.Evicted) or sets.late(message, one.sequence):
            continue
        if (key := (message.job, message.rev)) not in seen:  # what is said once more after a crash is the same
            seen.add(key)
            yield message
