"""The telemetry of one process: its meter, and of each loop what is told of it and whether this process tells it."""

import platform
from collections.abc import Callable, Coroutine, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fairway.process.telemetry.telling_lease import TellingLease
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.metrics.of_loop import LoopFacts
from fairway.runtime.views.settings import Catalog


class Telemetry:
    """`tellers` are by service."""

    def __init__(self, catalog: Catalog) -> None:
        self.meter = Meter(catalog)
        self.tellers: dict[str, TellingLease] = {}
        self.meter.sources.all.append(_build_info)

    def follow(self, loop: Loop, connected: Callable[[], bool]) -> None:
        """`connected` is whether the bus is there: who has nothing to say does not notice."""
        name = loop.service.name
        self.meter.follow(name, lambda: loop.ready and connected())
        self.tellers[name] = lease = TellingLease(loop)
        self.meter.sources.all.append(LoopFacts(loop, lambda: lease.tells))

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        """What runs beside the loops."""
        return [one.keep() for one in self.tellers.values() if one.extra]


def _build_info() -> Iterator[Sample]:
    try:
        built = version("fairway")
    except PackageNotFoundError:
        built = "unknown"
    yield "fairway_build_info", (built, platform.python_version()), 1
