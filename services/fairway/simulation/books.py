"""The store, looked over whenever it takes something: what a step charges is what its rows say."""

from collections.abc import Callable, Iterable

import msgspec

from fairway.adapters.memory_store import Memory, MemoryStore
from fairway.domain import decision
from fairway.domain.decision import Add, Put, Step
from fairway.domain.job import Job
from fairway.domain.shares import Share
from fairway.runtime.drift import quota_drift
from fairway.runtime.ports import Clock

_job = msgspec.json.Decoder(Job).decode
_share = msgspec.json.Decoder(Share).decode


class Books:
    """`wrong` is told of every step, and of every rebuild, whose charges are not those of its rows: the job (empty: of
    all of them) and a sentence."""

    def __init__(self) -> None:
        self.wrong: Callable[[str, str], None] = lambda job, text: None

    def compare(self, before: list[Add], step: Step) -> None:
        """`before` is what charges the rows that the step has replaced."""
        charged = [one for one in step.writes if isinstance(one, Add) and one.table == decision.QUOTA]
        made = _sums(before, (add for write in _shared(step) for add in _of(write.value).adds()))
        if _sums(charged) != made:
            job = next((write.key.partition("/")[0] for write in _shared(step)), "")
            self.wrong(job, f"a step charges {_sums(charged)}, and its rows make it {made}")

    def rebuilt(self, store: MemoryStore) -> None:
        rows, owed = (
            [row.data for row in store.rows.get(table, {}).values()] for table in (decision.JOBS, decision.OWED)
        )
        for one in quota_drift(rows, owed, store.counters.get(decision.QUOTA, {})):
            made, there = one.fields[""]
            self.wrong("", f"a rebuild has charged {one.key} {there}, and its rows make it {made}")


class BookedStore(MemoryStore):
    """One client of a store that is looked over."""

    def __init__(self, books: Books, clock: Clock | None, memory: Memory | None = None) -> None:
        super().__init__(memory, clock)
        self._books = books

    def beside(self) -> "BookedStore":
        return BookedStore(self._books, self._clock, self._memory)

    def _take(self, step: Step, missed: set[tuple[str, str]]) -> bool:
        before = [add for write in _shared(step) for add in self._charged(write).adds(-1)]
        taken = super()._take(step, missed)
        if taken:
            self._books.compare(before, step)
        return taken

    def _charged(self, write: Put) -> Share:
        """What the row is charged that this is to replace."""
        row = self.rows.get(write.table, {}).get(write.key)
        if row is None:
            return _NOTHING
        return _of(_job(row.data) if write.table == decision.JOBS else _share(row.data))

    async def finish_rebuild(self, epoch: str) -> None:
        await super().finish_rebuild(epoch)
        self._books.rebuilt(self)


_NOTHING = Share((), {})


def _shared(step: Step) -> list[Put]:
    return [one for one in step.writes if isinstance(one, Put) and one.table in (decision.JOBS, decision.OWED)]


def _of(value: object) -> Share:
    if isinstance(value, Job):
        return Share(value.path, value.charge) if value.charged else _NOTHING
    return value if isinstance(value, Share) else _NOTHING


def _sums(*adds: Iterable[Add]) -> dict[str, int]:
    total: dict[str, int] = {}
    for many in adds:
        for one in many:
            total[one.key] = total.get(one.key, 0) + one.amount
    return {key: amount for key, amount in sorted(total.items()) if amount}
