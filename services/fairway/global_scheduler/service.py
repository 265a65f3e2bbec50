"""global-scheduler as a value."""

from collections.abc import Sequence

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Decision, Heard, Step
from fairway.global_scheduler.decide import SERVICE, decide
from fairway.runtime.ports import ReadRows, Store
from fairway.runtime.record.senders import place_of
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.clusters import FleetView
from fairway.runtime.views.recorder import Recorder
from fairway.wire import flow
from fairway.wire import jobs as wire


class SchedulerView(FleetView):
    """`stale_after` in milliseconds: a cluster silent for longer gets no new work."""

    stale_after = 30_000
    follow = ("nodes/", decision.CLUSTERS)


class RecordedView(SchedulerView):
    """The same, and a recorder is told what it is fed and what comes of it."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    async def load(self, store: Store) -> None:
        await super().load(store)
        self._recorder.begin(store.born)

    def refresh(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        try:
            super().refresh(found, heard, now)
        except BaseException:
            self._recorder.torn()
            raise
        self._recorder.fed(self, found, heard, now)

    def make_up(self, heard: Heard[object], decided: Decision, now: int) -> Decision:
        made = super().make_up(heard, decided, now)
        self._recorder.decided(heard, made, now)
        return made

    def refused(self, step: Step) -> None:
        super().refused(step)
        self._recorder.refused(step)


def service(recorder: Recorder | None = None) -> Service[SchedulerView, wire.Dequeued]:
    decoder = msgspec.json.Decoder(wire.Message)
    consumer: Consumer[wire.Dequeued] = Consumer(*flow.consumer(SERVICE), decoder, place_of)
    if recorder is None:
        return Service(SERVICE, (consumer,), decide, SchedulerView)
    return Service(SERVICE, (consumer,), decide, lambda: RecordedView(recorder), beside=recorder.run)
