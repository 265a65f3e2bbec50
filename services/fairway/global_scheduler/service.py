"""global-scheduler as a value."""

from collections.abc import Sequence

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Heard
from fairway.global_scheduler.decide import SERVICE, decide
from fairway.runtime.ports import ReadRows
from fairway.runtime.record.senders import place_of
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.clusters import FleetMemory
from fairway.wire import flow
from fairway.wire import jobs as wire


class SchedulerMemory(FleetMemory):
    """`stale_after` in milliseconds: a cluster silent for longer gets no new work."""

    stale_after = 30_000
    follow = ("nodes/", decision.CLUSTERS)

    def take(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        super().take(found, heard, now)
        self.clusters.engine()  # reads what changed: once a batch, and not in its first decision


def service() -> Service[SchedulerMemory, wire.Dequeued]:
    decoder = msgspec.json.Decoder(wire.Message)
    consumer: Consumer[wire.Dequeued] = Consumer(*flow.consumer(SERVICE), decoder, place_of)
    return Service(SERVICE, (consumer,), decide, SchedulerMemory)
