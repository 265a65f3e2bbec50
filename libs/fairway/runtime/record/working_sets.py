"""What of the record counts: which working sets were in use."""

import msgspec
import structlog

from fairway.domain.decision import Heard
from fairway.domain.text.decoding import decoder
from fairway.domain.working_sets import WorkingSets
from fairway.runtime.ports import Bus, Delivery, Store
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import JobMessage

REBUILDS = subjects.job(wire.Rebuild.verb, "")
log = structlog.get_logger()
_decode = decoder(wire.Rebuild)


async def working_sets(bus: Bus, known: WorkingSets | None = None) -> WorkingSets:
    """Those that were in use up to now; only what is new is read if some are `known`. Unreachable when the bus is
    away."""
    sets = known or WorkingSets()
    async for one in bus.history(subjects.JOBS, (REBUILDS,), start=sets.heard + 1):
        if (message := rebuild_of(one)) is not None:
            sets.hear(message, one.sequence)
    return sets


def rebuild_of(one: Delivery) -> wire.Rebuild | None:
    """None for whatever else was said there: every service reads this place at every start, and none hears it, so that
    it would be nobody's dead letter."""
    try:
        return _decode(one.data)
    except msgspec.DecodeError:
        log.error("passed over: it says nothing of a rebuild", subject=one.subject, sequence=one.sequence)
        return None


def late(heard: Heard[object], sets: WorkingSets) -> bool:
    """Whether a message is an event that came too late for its working set."""
    message = heard.message
    return isinstance(message, JobMessage) and sets.late(message, heard.sequence)


class Past:
    """The working sets up to the one that a store was opened with; read from the record once for each. `known` are
    those that were read."""

    def __init__(self, bus: Bus, store: Store) -> None:
        self._bus = bus
        self._store = store
        self.known = WorkingSets()
        self._born = 0

    async def sets(self) -> WorkingSets:
        """Unreachable when the bus is away."""
        if self._store.born != self._born:
            born = self._store.born
            self.known = await working_sets(self._bus, self.known)
            self._born = born
        return self.known
