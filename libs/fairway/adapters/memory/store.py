"""The store in memory: the same guards, epoch and leases as the Lua scripts, in one process."""

from collections.abc import Mapping
from copy import copy, deepcopy

import msgspec

from fairway.adapters.memory.working_set import StoreContents
from fairway.domain.decision import Put, Step, Write
from fairway.domain.working_sets import born_of
from fairway.runtime.ports import Clock, Commit, Fenced, ReadRows, Row, StoreWiped, Unreachable, Wanted


def followed(table: str) -> bool:
    return table == "clusters" or table.startswith(("nodes/", "ledger/"))


class MemoryStore:
    """One client of a store; `beside` gives another one of the same. `wipe` forgets everything, as a restart of a
    cache without persistence does; each client notices by itself. Without a clock leases do not expire by time, nor
    does the lock of a rebuild: `expire` a lease."""

    def __init__(self, memory: StoreContents | None = None, clock: Clock | None = None) -> None:
        self._memory = memory or StoreContents()
        self._clock = clock
        self._epoch = ""
        self._rebuilds = ""

    def beside(self) -> "MemoryStore":
        return MemoryStore(self._memory, self._clock)

    def _now(self) -> int:
        return self._clock.now() if self._clock else 0

    def wipe(self) -> None:
        # In place: the other clients hold the same memory.
        vars(self._memory).update(vars(StoreContents()))

    def keep(self) -> "StoreContents":
        """What a replica has of it now."""
        kept = StoreContents()
        vars(kept).update({name: copy(value) for name, value in vars(self._memory).items()})
        kept.changes = deepcopy(self._memory.changes)
        kept.rows = {table: dict(rows) for table, rows in self.rows.items()}
        kept.counters = {table: dict(counters) for table, counters in self.counters.items()}
        return kept

    def fail_over(self, kept: StoreContents) -> None:
        """To a replica that had this much of it: the last commits are gone."""
        kept.server += 1
        vars(self._memory).update(vars(kept))

    def expire(self, lease: str) -> None:
        """As when its owner died: whoever asks next has it."""
        _, token, until = self._memory.leases.get(lease, ("", 0, 0))
        self._memory.leases[lease] = ("", token, until)

    @property
    def epoch(self) -> str:
        self._memory.meet()
        return self._memory.epoch

    @property
    def born(self) -> int:
        return born_of(self._epoch)

    @property
    def rows(self) -> dict[str, dict[str, Row]]:
        return self._memory.rows

    @property
    def counters(self) -> dict[str, dict[str, int]]:
        return self._memory.counters

    async def open(self) -> bool:
        self._epoch = self.epoch
        return bool(self.epoch)

    def _check(self, lease: str, token: int) -> None:
        if not self.epoch or self.epoch != self._epoch:
            raise StoreWiped
        if lease and self._memory.leases.get(lease, ("", 0, 0))[1] != token:
            raise Fenced

    async def read(self, wanted: Wanted) -> ReadRows:
        self._check(wanted.lease, wanted.token)
        found = ReadRows(version=self._memory.changes.last)
        for table, keys in wanted.rows.items():
            for key in keys:
                if (one := self.rows.get(table, {}).get(key)) is not None:
                    found.rows[table, key] = one
        for table in wanted.whole:
            if table in self.counters:
                found.counters[table] = dict(self.counters[table])
            else:
                found.whole[table] = dict(self.rows.get(table, {}))
        if wanted.since is not None:
            newer = self._memory.changes.after(wanted.since, (*wanted.follow, *wanted.gone))
            rows = [(*name, self.rows.get(name[0], {}).get(name[1])) for name in newer]
            found.changes = [one for one in rows if one[2] is None or one[0].startswith(wanted.follow)]
        return found

    async def keys(self, table: str, after: str, most: int) -> list[str]:
        self._check("", 0)
        return sorted(key for key in self.rows.get(table, {}) if key > after)[:most]

    async def commit(self, commit: Commit) -> list[bool]:
        self._check(commit.lease, commit.token)
        outbox = self.rows.setdefault(commit.outbox, {})
        for key in commit.done:
            outbox.pop(key, None)
        taken = []
        words = b""
        missed = set[tuple[str, str]]()
        payloads = commit.payloads or (b"",) * len(commit.steps)
        for payload, step in zip(payloads, commit.steps, strict=True):
            taken.append(self._take(step, missed))
            if taken[-1] and payload:
                words += b"%d:%b" % (len(payload), payload)
        if words:
            outbox[commit.key] = Row(0, words)
        return taken

    def _take(self, step: Step, missed: set[tuple[str, str]]) -> bool:
        """`missed` are the rows that refused steps were to write: a later step may expect the rev that they would have
        had, and another one's row may have that rev by now."""
        rows = {(write.table, write.key) for write in step.writes if isinstance(write, Put)}
        guarded = {(one.table, one.key) for one in step.writes if isinstance(one, Put) and one.expect is not None}
        if guarded & missed or any(self._refused(write) for write in step.writes):
            missed |= rows
            return False
        for write in step.writes:
            self._apply(write)
        return True

    def _refused(self, write: Write) -> bool:
        if isinstance(write, Put):
            row = self.rows.get(write.table, {}).get(write.key)
            return write.expect is not None and (row.rev if row else 0) != write.expect
        now = self.counters.get(write.table, {}).get(write.key, 0)
        return write.most is not None and now + write.amount > write.most

    def _apply(self, write: Write) -> None:
        if not isinstance(write, Put):
            table = self.counters.setdefault(write.table, {})
            table[write.key] = table.get(write.key, 0) + write.amount
            return
        row = None if write.value is None else Row(write.rev, msgspec.json.encode(write.value))
        self._set(write.table, write.key, row)

    def _set(self, table: str, key: str, row: Row | None) -> None:
        rows = self.rows.setdefault(table, {})
        if row is None:
            rows.pop(key, None)
        else:
            rows[key] = row
        if followed(table):
            self._memory.changes.add((table, key), row is None)

    async def begin_rebuild(self, owner: str, ttl_ms: int) -> bool:
        if self.epoch or self._rebuilder() not in ("", owner):
            return False
        self.wipe()
        self._memory.rebuilding = self._rebuilds = owner
        self._memory.rebuilding_until = self._now() + ttl_ms
        return True

    def _rebuilder(self) -> str:
        self._memory.meet()
        over = self._clock is not None and self._memory.rebuilding_until <= self._now()
        return "" if over else self._memory.rebuilding

    async def renew_rebuild(self, ttl_ms: int) -> bool:
        if self._rebuilder() != self._rebuilds or not self._rebuilds:
            return False
        self._memory.rebuilding_until = self._now() + ttl_ms
        return True

    def _check_rebuild(self) -> None:
        if self._rebuilder() != self._rebuilds:
            raise Unreachable("another process took over the rebuild; waiting for it to finish")

    async def load(self, table: str, rows: Mapping[str, tuple[int, bytes]]) -> None:
        self._check_rebuild()
        for key, (rev, data) in rows.items():
            self._set(table, key, Row(rev, data))

    async def load_counters(self, table: str, counters: Mapping[str, int]) -> None:
        self._check_rebuild()
        self.counters.setdefault(table, {}).update(counters)

    async def finish_rebuild(self, epoch: str) -> None:
        self._check_rebuild()
        self._memory.epoch = self._epoch = epoch
        self._memory.rebuilding = self._rebuilds = ""

    async def lease(self, name: str, owner: str, ttl_ms: int) -> int:
        holder, token, until = self._memory.leases.get(name, ("", 0, 0))
        if self._clock is not None and until <= self._now():
            holder = ""
        if holder not in ("", owner):
            return 0
        token += holder != owner
        self._memory.leases[name] = (owner, token, self._now() + ttl_ms)
        return token

    async def close(self) -> None:
        return None
