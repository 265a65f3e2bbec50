"""global-scheduler as a value."""

import msgspec

from fairway.domain import decision
from fairway.global_scheduler.decide import SERVICE, decide
from fairway.runtime.service import Ear, Service
from fairway.runtime.views import FleetView
from fairway.wire import jobs as wire
from fairway.wire import subjects


class SchedulerView(FleetView):
    """`stale_after` in milliseconds: a cluster silent for longer gets no new work."""

    stale_after = 30_000
    follow = ("nodes/", decision.CLUSTERS)


def service() -> Service:
    decoder = msgspec.json.Decoder(wire.Message)
    ear = Ear(subjects.JOBS, SERVICE, ("fairway.job.dequeued.>",), decoder)
    return Service(SERVICE, (ear,), decide, SchedulerView)
