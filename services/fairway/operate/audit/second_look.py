"""The rows of a store that works, beside what the record makes of them: what differs is looked at again, until it is
the same, or stays as it is."""

import asyncio
from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.valkey.rows import row
from fairway.adapters.valkey.store import RedisStore
from fairway.audit import store_drift
from fairway.audit.store_drift import Drift, Key, Value
from fairway.domain import decision
from fairway.domain.job import Job
from fairway.runtime.ports import Wanted
from fairway.runtime.record.dead_letter_retry import job_of
from fairway.runtime.record.folding import Folding
from fairway.runtime.record.working_sets import working_sets
from fairway.wire import subjects

# A commit is said within this time (ms): one try of a publish takes 5 s, and another instance says within 3 s what one
# that crashed has left unsaid. What differs for longer is drift.
SETTLES_MS = 10_000
# What still changes then is left for another time.
_PATIENCE_MS = 60_000
_PAUSE_S = 1.0
# Keys of one read, so that others get their turn.
_MOST = 2_000
_job = msgspec.json.Decoder(Job).decode


class DoubtfulRow(Struct, frozen=True):
    """A key that differs, what it is on both sides, and since when it is so."""

    made: Value | None
    there: Value | None
    since: int


class SecondLook:
    """`now` is the time in milliseconds. Raises StoreWiped when the store is not the one that was opened any more."""

    def __init__(self, bus: NatsBus, store: RedisStore, now: Callable[[], int]) -> None:
        self._bus = bus
        self._store = store
        self._now = now

    async def everything(self) -> dict[Key, Value]:
        """Every row that is compared, not of one moment."""
        found: dict[Key, Value] = {}
        for table in await self._store.tables():
            if store_drift.compared(table):
                for key, data in (await self._store.table(table)).items():
                    if (one := row(data)) is not None:
                        found[table, key] = (one.rev, one.data)
        await self._store.read(Wanted())
        return found

    async def settled(self, made: dict[Key, Value], there: dict[Key, Value]) -> tuple[list[Drift], list[Drift]]:
        """What differs for good, and what would not stand still."""
        began = self._now()
        doubts = {key: DoubtfulRow(made.get(key), there.get(key), began) for key in store_drift.unlike(made, there)}
        while doubts and not all(self._old(one) for one in doubts.values()):
            if self._now() - began > _PATIENCE_MS:
                break
            await asyncio.sleep(_PAUSE_S)
            jobs = store_drift.jobs_of(doubts, made, there)
            before = await self._rows(doubts)
            made = await self._folded(jobs)
            there = await self._rows({*doubts, *made})
            differ = {key for key in {*doubts, *made} if made.get(key) not in (before.get(key), there.get(key))}
            doubts = {key: self._doubt(doubts.get(key), made.get(key), there.get(key)) for key in differ}
        told = [(self._old(one), store_drift.drift(key, one.made, one.there)) for key, one in sorted(doubts.items())]
        return [one for old, one in told if old], [one for old, one in told if not old]

    def _doubt(self, before: DoubtfulRow | None, made: Value | None, there: Value | None) -> DoubtfulRow:
        if before is not None and (before.made, before.there) == (made, there):
            return before
        return DoubtfulRow(made, there, self._now())

    def _old(self, one: DoubtfulRow) -> bool:
        return self._now() - one.since >= SETTLES_MS

    async def _rows(self, keys: Iterable[Key]) -> dict[Key, Value]:
        found: dict[Key, Value] = {}
        ordered = sorted(keys)
        for start in range(0, len(ordered), _MOST):
            wanted = Wanted()
            for table, key in ordered[start : start + _MOST]:
                wanted.add(table, key)
            read = await self._store.read(wanted)
            found |= {key: (one.rev, one.data) for key, one in read.rows.items()}
        return found

    async def _folded(self, jobs: set[str]) -> dict[Key, Value]:
        """What the record makes of these jobs by now."""
        folding = Folding(await working_sets(self._bus))
        async for one in self._bus.history(subjects.JOBS):
            try:
                if job_of(one.data) in jobs:
                    folding.read(one.data, one.sequence, one.subject)
            except msgspec.DecodeError:
                continue  # its consumer has put it among the dead letters
        return store_drift.flat(folding.working_set(folding.jobs()))

    async def quota(self) -> list[Drift]:
        """Charges are committed with the rows of their jobs: so, of one moment, each counter is the sum over the live
        ones and what is owed. A few times, for a charge may come in between."""
        found: list[Drift] = []
        for _ in range(10):
            live = sorted((await self._store.read(Wanted(whole=(decision.LIVE,)))).whole.get(decision.LIVE, {}))
            whole = (decision.LIVE, decision.QUOTA, decision.OWED)
            read = await self._store.read(Wanted(rows={decision.JOBS: live}, whole=whole))
            new = sorted({*read.whole.get(decision.LIVE, {})} - {*live})
            rows = [one.data for one in read.rows.values()]
            owed = [one.data for one in read.whole.get(decision.OWED, {}).values()]
            found = store_drift.quota_drift(rows, owed, read.counters.get(decision.QUOTA, {}))
            if not found or await self._uncharged(new):
                break
        return found

    async def _uncharged(self, jobs: list[str]) -> bool:
        """That they cannot have been charged a moment ago either: they are in their first attempt, and before it."""
        found = await self._rows((decision.JOBS, job) for job in jobs)
        rows = [_job(data) for _, data in found.values()]
        return not any(job.charged or job.attempts or job.attempt > 1 or job.ended for job in rows)
