"""What is told of one loop at a scrape: its lease and rebuilds, and what its memory has, if this process tells that."""

from collections.abc import Callable, Iterator

from fairway.runtime.loop import Loop
from fairway.runtime.metrics.accumulators import Sample


class LoopFacts:
    """`tells` is whether this process is the one that tells what is the same for all processes of the service."""

    def __init__(self, loop: Loop, tells: Callable[[], bool]) -> None:
        self._loop = loop
        self._tells = tells

    def __call__(self) -> Iterator[Sample]:
        loop = self._loop
        service = loop.service
        now = loop.world.clock.now()
        if service.single:
            yield "fairway_lease_held", (service.name,), float(service.ownership.lasts(now))
            yield "fairway_lease_changes_total", (service.name,), loop.opening.changes
        yield "fairway_rebuilds_total", (service.name,), loop.opening.rebuilding.count
        yield "fairway_rebuild_duration_seconds", (service.name,), loop.opening.rebuilding
        if service.gauges is not None and self._tells():
            yield from service.gauges(loop.view.memory, now)
