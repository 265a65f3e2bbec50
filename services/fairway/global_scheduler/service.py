"""global-scheduler as a value."""

from collections.abc import Iterable, Sequence

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Heard, Step
from fairway.global_scheduler.decide import SERVICE, Hears, decide
from fairway.placement.scores import Weights
from fairway.runtime.ports import ReadRows
from fairway.runtime.record.senders import place_of, place_of_relief
from fairway.runtime.service import Consumer, Remembered, Service
from fairway.runtime.views.clusters import FleetMemory
from fairway.wire import flow
from fairway.wire import jobs as wire
from fairway.wire.preemption.evictions import Evict, Relieve
from fairway.wire.preemption.evictions import Message as RelieveOrEvict

_WEIGHTS = "weights"
_GOING = "going"
# Whom this scheduler has chosen, the queue has heard of by then (ms).
GOING_MS = 10_000
_PLAIN = Weights()
# What was found of so many clusters goes along with the event: storing it apart would cost more than it saves.
ALONGSIDE = 32


class SchedulerMemory(FleetMemory):
    """`stale_after` in milliseconds: a cluster silent for longer gets no new work. Of the ledger it hears what was
    dropped: a job that was placed, reserved and removed between two looks would seem to have its room still, and nobody
    is told of it again who was refused for that."""

    stale_after = 30_000
    follow = ("nodes/", decision.CLUSTERS)
    gone = ("ledger/",)

    def __init__(self, weights: Weights = _PLAIN, alongside: int = ALONGSIDE) -> None:
        super().__init__()
        self.weights = weights
        self.alongside = alongside
        self.going: dict[str, int] = {}

    def begin(self) -> None:
        super().begin()
        self.going.clear()

    def take(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        super().take(found, heard, now)
        self.going = {key: at for key, at in self.going.items() if at > now - GOING_MS}
        self.clusters.engine()  # reads what changed: once a batch, and not in its first decision

    def apply(self, step: Step) -> None:
        super().apply(step)
        for say in step.events:
            if isinstance(say.message, Evict):
                self.going |= {f"{one.job}/{one.attempt}": say.message.at for one in say.message.victims}

    def remembered(self) -> Iterable[Remembered]:
        """A setting is a part of what is decided on, too."""
        yield from super().remembered()
        yield Remembered(_WEIGHTS, "", self.weights)
        yield from (Remembered(_GOING, key, at) for key, at in self.going.items())

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        if table == _WEIGHTS:
            self.weights = msgspec.json.decode(data, type=Weights)
        elif table == _GOING:
            self.going[key] = msgspec.json.decode(data, type=int)
        else:
            super().recall(table, key, rev, data)


def service(weights: Weights = _PLAIN, alongside: int = ALONGSIDE) -> Service[SchedulerMemory, Hears]:
    decoder = msgspec.json.Decoder(wire.Message)
    jobs: Consumer[wire.Dequeued] = Consumer(*flow.consumer(SERVICE), decoder, place_of)
    claims: Consumer[Relieve] = Consumer(
        *flow.consumer(f"{SERVICE}-relief"), msgspec.json.Decoder(RelieveOrEvict), place_of_relief
    )
    return Service(SERVICE, (jobs, claims), decide, lambda: SchedulerMemory(weights, alongside))
