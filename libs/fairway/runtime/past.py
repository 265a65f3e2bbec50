"""What of the record counts: which working sets were in use."""

import msgspec

from fairway.domain.working_sets import WorkingSets
from fairway.runtime.ports import Bus, Store
from fairway.wire import jobs as wire
from fairway.wire import subjects

REBUILDS = subjects.job(wire.Rebuild.verb, "")
decode_rebuild = msgspec.json.Decoder(wire.Rebuild).decode


async def working_sets(bus: Bus, known: WorkingSets | None = None) -> WorkingSets:
    """Those that were in use up to now; only what is new is read if some are `known`. Unreachable when the bus is
    away."""
    sets = known or WorkingSets()
    async for one in bus.history(subjects.JOBS, (REBUILDS,), start=sets.heard + 1):
        sets.hear(decode_rebuild(one.data), one.sequence)
    return sets


class Past:
    """The working sets up to the one that a store was opened with; read from the record once for each."""

    def __init__(self, bus: Bus, store: Store) -> None:
        self._bus, self._store = bus, store
        self._sets, self._born = WorkingSets(), 0

    async def sets(self) -> WorkingSets:
        """Unreachable when the bus is away."""
        if self._store.born != self._born:
            born = self._store.born
            self._sets, self._born = await working_sets(self._bus, self._sets), born
        return self._sets
