"""The telemetry of one process: its meter, and of each loop what is told of it and whether this process tells it."""

import platform
from collections.abc import Callable, Coroutine, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fairway.adapters.nats.bus import NatsBus
from fairway.process.members.enrolment import Enrolment
from fairway.process.telemetry.looks import JobStates, ServiceLooks
from fairway.process.telemetry.telling_lease import TellingLease
from fairway.process.telemetry.token_expiry import TokenExpiry
from fairway.queue.view import SERVICE as QUEUE
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.metrics.label_values import SettingsNames
from fairway.runtime.metrics.of_loop import LoopFacts
from fairway.runtime.views.settings import Catalog


class Telemetry:
    """`enrolment` is that of a process with agents."""

    def __init__(self, catalog: Catalog, enrolment: Enrolment | None = None) -> None:
        self.meter = Meter(catalog)
        self._names = SettingsNames(catalog)
        self._loops: list[Loop] = []
        self.meter.sources.all.append(_build_info)
        if enrolment is not None:
            self.meter.sources.all.append(TokenExpiry(enrolment))

    def follow(self, loop: Loop, connected: Callable[[], bool]) -> None:
        """`connected` is whether the bus is there: who has nothing to say does not notice."""
        self.meter.follow(loop.service.name, lambda: loop.ready and connected())
        self._loops.append(loop)

    def tasks(self, bus: NatsBus) -> list[Coroutine[Any, Any, None]]:
        """What runs beside the loops."""
        return [task for loop in self._loops for task in self._of(loop, bus)]

    def _of(self, loop: Loop, bus: NatsBus) -> Iterator[Coroutine[Any, Any, None]]:
        sources = self.meter.sources.all
        lease = TellingLease(loop)
        if lease.extra:
            yield lease.keep()
        sources.append(LoopFacts(loop, lambda: lease.tells))
        looks = ServiceLooks(loop, bus, lease)
        sources.append(looks.samples)
        yield looks.run()
        if loop.service.name == QUEUE:
            states = JobStates(loop, lease, self._names)
            sources.append(states.samples)
            yield states.run()


def _build_info() -> Iterator[Sample]:
    try:
        built = version("fairway")
    except PackageNotFoundError:
        built = "unknown"
    yield "fairway_build_info", (built, platform.python_version()), 1
