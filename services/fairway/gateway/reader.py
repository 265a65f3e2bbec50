"""Reading the rows: over a store that may have been wiped and rebuilt meanwhile, and in pages that stay small."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.attempts.eviction_freeze import EVICTIONS, Freeze
from fairway.domain.held_object import HeldObject
from fairway.domain.job import Job
from fairway.domain.text.decoding import decoder
from fairway.gateway.http.answers import Slim
from fairway.runtime.ports import ReadRows, Store, StoreWiped, Unreachable, Wanted
from fairway.wire import jobs as wire

_PIECE = 500
# A page of a list looks at most at so many rows, however few of them pass the filter.
MOST_ROWS = 5_000
_placed = decoder(wire.Placed)
_job = decoder(Job)
_slim = decoder(Slim)
T = TypeVar("T")


class PagedTable(Struct, Generic[T], frozen=True):
    """What is listed in pages: the table whose keys are the names, the table of the rows, and the reader of one."""

    names: str
    rows: str
    read: Callable[[bytes], T]


ALL_JOBS = PagedTable(decision.JOBS, decision.JOBS, _job)
LIVE_JOBS = PagedTable(decision.LIVE, decision.JOBS, _job)
HELD_OBJECTS = PagedTable(decision.HELD, decision.HELD, decoder(HeldObject))
Passes = Callable[[T], Awaitable[bool]]


class Reader:
    """A store for reading. Raises Unreachable while the working set is not there."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read(self, wanted: Wanted) -> ReadRows:
        try:
            return await self._store.read(wanted)
        except StoreWiped:
            await self._reopen()
        try:
            return await self._store.read(wanted)
        except StoreWiped as error:
            raise Unreachable("the working set is being rebuilt from the record") from error

    async def _keys(self, table: str, after: str, most: int) -> list[str]:
        try:
            return await self._store.keys(table, after, most)
        except StoreWiped:
            await self._reopen()
            return await self._store.keys(table, after, most)

    async def _reopen(self) -> None:
        if not await self._store.open():
            raise Unreachable("the working set is being rebuilt from the record")

    async def job(self, name: str) -> Job | None:
        """With the record of its present placement."""
        found = await self.read(Wanted(rows={decision.JOBS: [name], decision.PLACED: [name]}))
        row = found.rows.get((decision.JOBS, name))
        placed = found.rows.get((decision.PLACED, name))
        if row is None:
            return None
        return msgspec.structs.replace(_job(row.data), placed=_placed(placed.data) if placed else None)

    async def frozen(self) -> Freeze | None:
        """While the watcher gives nothing up."""
        found = await self.read(Wanted(rows={decision.FREEZE: [EVICTIONS]}))
        row = found.rows.get((decision.FREEZE, EVICTIONS))
        return decoded(row.data, Freeze) if row else None

    async def page(self, table: PagedTable[T], after: str, most: int, passes: Passes[T]) -> tuple[list[T], str]:
        """The first `most` that pass of those behind the key `after`, and the key after which to go on (empty: that was
        all)."""
        shown: list[T] = []
        looked = 0
        piece = most
        while looked < MOST_ROWS:
            # One more than is looked at tells whether there are any behind them.
            keys = await self._keys(table.names, after, piece + 1)
            # Without keys, too: a read alone notices that the store was wiped.
            found = await self.read(Wanted(rows={table.rows: keys[:piece]}))
            for index, after in enumerate(keys[:piece], 1):
                row = found.rows.get((table.rows, after))
                if row is not None and await passes(one := table.read(row.data)):
                    shown.append(one)
                if len(shown) == most:
                    return shown, after if index < len(keys) else ""
            if len(keys) <= piece:
                return shown, ""
            looked = looked + piece
            piece = _PIECE
        return shown, after

    async def jobs(self, names: Iterable[str]) -> dict[str, Job]:
        """Those of these that are there, by name."""
        found = await self.read(Wanted(rows={decision.JOBS: sorted(set(names))}))
        return {name: _job(row.data) for (_, name), row in found.rows.items()}

    async def some(self, names: Sequence[str], passes: Passes[Job]) -> list[Job]:
        """Those of these jobs that are there and pass."""
        jobs = await self.jobs(names)
        return sorted([job for job in jobs.values() if await passes(job)], key=lambda job: job.id)

    async def held(self, names: Iterable[str]) -> dict[str, HeldObject]:
        """The held objects by what they were asked for by: their uids, or the ids that their jobs will have."""
        asked = sorted(set(names))
        if not asked:
            return {}
        found = await self.read(Wanted(rows={decision.HELD: asked, decision.HELD_JOBS: asked}))
        by_uid = {key: row for (table, key), row in found.rows.items() if table == decision.HELD}
        uids = {key: decoded(row.data, str) for (table, key), row in found.rows.items() if table == decision.HELD_JOBS}
        if more := sorted({*uids.values()} - by_uid.keys()):
            by_uid |= {key: row for (_, key), row in (await self.read(Wanted(rows={decision.HELD: more}))).rows.items()}
        held = {name: by_uid.get(uids.get(name, name)) for name in asked}
        return {name: HELD_OBJECTS.read(row.data) for name, row in held.items() if row is not None}

    async def live(self) -> AsyncIterator[Slim]:
        """The counted part of every live job."""
        async for data in self._live_rows():
            yield _slim(data)

    async def live_jobs(self) -> AsyncIterator[Job]:
        async for data in self._live_rows():
            yield _job(data)

    async def _live_rows(self) -> AsyncIterator[bytes]:
        names = await self._keys(decision.LIVE, "", _PIECE)
        while names:
            found = await self.read(Wanted(rows={decision.JOBS: names}))
            for row in found.rows.values():
                yield row.data
            names = await self._keys(decision.LIVE, names[-1], _PIECE)


def decoded(data: bytes, kind: type[Any]) -> Any:
    return msgspec.json.decode(data, type=kind)
