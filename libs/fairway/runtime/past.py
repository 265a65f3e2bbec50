"""What of the record counts: which working sets were in use, for whoever reads it without deciding anything."""

import msgspec

from fairway.domain.working_sets import WorkingSets
from fairway.runtime.ports import Bus
from fairway.wire import jobs as wire
from fairway.wire import subjects

REBUILDS = subjects.job(wire.Rebuild.verb, "")
decode_rebuild = msgspec.json.Decoder(wire.Rebuild).decode


async def working_sets(bus: Bus) -> WorkingSets:
    """Those that were in use up to now. Unreachable when the bus is away."""
    sets = WorkingSets()
    async for one in bus.history(subjects.JOBS, (REBUILDS,)):
        sets.hear(decode_rebuild(one.data), one.sequence)
    return sets
