"""queue as a value: one owner at a time, its waiting jobs made from the rows at every start."""

import asyncio
from collections.abc import Iterator
from functools import partial

import msgspec

from fairway.domain.policy_terms import Changed
from fairway.queue.decide import decide
from fairway.queue.memory import QueueMemory
from fairway.queue.metrics.gauges import of_claims, of_quota, of_waiting
from fairway.queue.view import (
    PATIENCE_EVERY_MS,
    SERVICE,
    SWEEP_EVERY_MS,
    Hears,
    OfJobs,
    Patience,
    QueueBegins,
    Sweep,
)
from fairway.runtime.metrics import Meter
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.metrics.label_values import SettingsNames
from fairway.runtime.record.senders import place_of, place_of_cluster
from fairway.runtime.service import Consumer, LocalMessages, Service
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, flow
from fairway.wire import jobs as wire

_jobs: Consumer[OfJobs] = Consumer(*flow.consumer(SERVICE), msgspec.json.Decoder(wire.Message), place_of)
_freed: Consumer[fleet.Freed] = Consumer(
    *flow.consumer(f"{SERVICE}-freed"), msgspec.json.Decoder(fleet.Freed), place_of_cluster
)


def _gauges(names: SettingsNames, known: QueueMemory, now: int) -> Iterator[Sample]:
    yield from of_waiting(known.queued, names, now)
    yield from of_quota(known.tree, known.usage)
    yield from of_claims(known.active)


def service(catalog: Catalog, meter: Meter, memories: list[QueueMemory]) -> Service[QueueMemory, Hears]:
    """`memories` receives the memory once the service runs, for whoever asks for a job's place."""

    def memory() -> QueueMemory:
        memories.append(QueueMemory(catalog))
        return memories[-1]

    wakes = meter.sweep_wakes.labels(SERVICE)  # 0 is what an operator wants to see
    counted = 0

    def count(known: QueueMemory) -> None:
        nonlocal counted
        wakes.inc(known.sweep_wakes - counted)
        counted = known.sweep_wakes

    async def beside(inbox: LocalMessages) -> None:
        def news(changed: Changed) -> None:
            if changed.kind != "Namespace":  # that says which pods may be there, and is asked at the door
                inbox.put(changed)

        catalog.heard.append(news)
        try:
            await asyncio.Event().wait()
        finally:
            catalog.heard.remove(news)

    return Service(
        SERVICE,
        (_jobs, _freed),
        decide,
        memory,
        single=True,
        ticks=((Sweep(), SWEEP_EVERY_MS), (Patience(), PATIENCE_EVERY_MS)),
        begin=QueueBegins(),
        beside=beside,
        shown=count,
        gauges=partial(_gauges, SettingsNames(catalog)),
    )
