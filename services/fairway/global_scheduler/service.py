"""global-scheduler as a value."""

from collections.abc import Iterable, Sequence

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Heard
from fairway.global_scheduler.decide import SERVICE, decide
from fairway.placement.scores import Weights
from fairway.runtime.ports import ReadRows
from fairway.runtime.record.senders import place_of
from fairway.runtime.service import Consumer, Remembered, Service
from fairway.runtime.views.clusters import FleetMemory
from fairway.wire import flow
from fairway.wire import jobs as wire

_WEIGHTS = "weights"
_PLAIN = Weights()
# What was found of so many clusters goes along with the event: storing it apart would cost more than it saves.
ALONGSIDE = 32


class SchedulerMemory(FleetMemory):
    """`stale_after` in milliseconds: a cluster silent for longer gets no new work."""

    stale_after = 30_000
    follow = ("nodes/", decision.CLUSTERS)

    def __init__(self, weights: Weights = _PLAIN, alongside: int = ALONGSIDE) -> None:
        super().__init__()
        self.weights = weights
        self.alongside = alongside

    def take(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        super().take(found, heard, now)
        self.clusters.engine()  # reads what changed: once a batch, and not in its first decision

    def remembered(self) -> Iterable[Remembered]:
        """A setting is a part of what is decided on, too."""
        yield from super().remembered()
        yield Remembered(_WEIGHTS, "", self.weights)

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        if table == _WEIGHTS:
            self.weights = msgspec.json.decode(data, type=Weights)
        else:
            super().recall(table, key, rev, data)


def service(weights: Weights = _PLAIN, alongside: int = ALONGSIDE) -> Service[SchedulerMemory, wire.Dequeued]:
    decoder = msgspec.json.Decoder(wire.Message)
    consumer: Consumer[wire.Dequeued] = Consumer(*flow.consumer(SERVICE), decoder, place_of)
    return Service(SERVICE, (consumer,), decide, lambda: SchedulerMemory(weights, alongside))
