"""What `fairway audit who` does: it puts together what a user did, from all that keeps it."""

from collections.abc import AsyncIterator, Callable, Iterator

from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.operate import servers
from fairway.operate.audit.deeds import Deed, JobDeeds, of_audit, of_letter
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.flow import filters

_OF_JOBS = (wire.Submitted, wire.Revise, wire.Cancel, wire.HoldJob, wire.Rejected, wire.ManifestsRemoved)


class DeedFilter(Struct, frozen=True):
    """Of this `user` (empty: of everybody), `since` so many milliseconds since 1970; if `refused`, only what they were
    refused."""

    user: str = ""
    since: int = 0
    refused: bool = False

    def takes(self, one: Deed) -> bool:
        return self.user in ("", one.who.user) and one.at >= self.since and not (self.refused and one.allowed)


async def found(asked: DeedFilter) -> list[Deed]:
    """In the order of time. A job that was submitted before, and refused since, is told of as refused."""
    async with servers.bus(servers.settings()) as bus:
        deeds = [one async for one in _deeds(bus, asked) if asked.takes(one)]
    return sorted(deeds, key=lambda one: one.at)


async def _deeds(bus: NatsBus, asked: DeedFilter) -> AsyncIterator[Deed]:
    users = subjects.token(asked.user) if asked.user else "*"
    parts: tuple[tuple[str, tuple[str, ...], Callable[[Delivery], Iterator[Deed]]], ...] = (
        (subjects.AUDIT, (f"fairway.audit.*.{users}",), of_audit),
        (subjects.JOBS, filters(*_OF_JOBS), JobDeeds().hear),
        (subjects.DLQ, (), of_letter),
    )
    for stream, heard, read in parts:
        async for said in bus.since(stream, heard, asked.since):
            for one in read(said):
                yield one
