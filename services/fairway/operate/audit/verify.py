"""What `fairway audit verify` does: the record replayed twice, beside the store, and read by the auditor."""

import asyncio
from typing import cast

import msgspec
from msgspec import Struct

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.past_record import NatsPast, newest
from fairway.adapters.system_clock import SystemClock
from fairway.audit.attempts import Spoken, Violation
from fairway.audit.auditor import Checker, Findings, Grace
from fairway.audit.evictions.claims import EvictionFigures
from fairway.audit.store_drift import Drift, Key, Value, flat, state_hash
from fairway.client.failure import ERROR, Failure
from fairway.domain import decision
from fairway.domain.text.decoding import decoder
from fairway.operate import servers
from fairway.operate.audit.known_decisions import HEARD_MS, hear_of_evictions
from fairway.operate.audit.second_look import SETTLES_MS, SecondLook
from fairway.runtime.ports import Bus, StoreWiped
from fairway.runtime.record.folding import Working
from fairway.runtime.record.rebuild import rebuild
from fairway.wire import jobs as wire
from fairway.wire import subjects

_decode = decoder(wire.Message)
# How often what may still be mended is looked at again.
_LOOKS = 3
# Nobody else asks for the lock of a store in memory.
_LOCK_MS = 3_600_000


class Audit(Struct, frozen=True):
    """`last` is the place in the record up to which it was replayed; `states` the hashes of both replays; `keys` how
    many were compared. `drift` differs for good, `unsettled` changed too fast; `breaches` are the auditor's, and
    `asked` its count of submissions and cancellations by the door that they came through (empty: no door is named),
    `evictions` what became of claims and of whom they evicted."""

    last: int
    messages: int
    jobs: int
    states: tuple[str, str]
    keys: int
    drift: list[Drift]
    unsettled: list[Drift]
    breaches: list[Violation]
    asked: dict[str, int] = {}
    evictions: EvictionFigures = EvictionFigures()

    @property
    def ok(self) -> bool:
        return self.states[0] == self.states[1] and not self.drift and not self.breaches


class _Replay(Struct):
    jobs: int
    messages: int
    state: str
    rows: dict[Key, Value]


async def verified() -> Audit:
    """Raises Failure when there is nothing to compare with, or it was lost meanwhile."""
    of = servers.settings()
    async with servers.bus(of) as bus, servers.store(of) as store:
        if not await store.open():
            raise Failure(ERROR, "the store is empty, or is being rebuilt", "wait for it; it needs a running service")
        try:
            return await _verified(bus, SecondLook(bus, store, SystemClock().now))
        except StoreWiped:
            text = "the working set was lost, or rebuilt, while it was looked at"
            raise Failure(ERROR, text, "run it again") from None


async def _verified(bus: NatsBus, look: SecondLook) -> Audit:
    last = await newest(bus)
    first = (await _replayed(bus, last)).state
    second = await _replayed(bus, last)
    there = await look.everything()
    settled, moving = await look.settled(second.rows, there)
    keys = len(second.rows.keys() | there.keys())
    differ = [*settled, *await look.quota()]
    breaches, findings = await _breaches(bus, last)
    return Audit(
        last=last,
        messages=second.messages,
        jobs=second.jobs,
        states=(first, second.state),
        keys=keys,
        drift=differ,
        unsettled=moving,
        breaches=breaches,
        asked=findings.asked,
        evictions=findings.evictions,
    )


async def _replayed(bus: NatsBus, last: int) -> _Replay:
    """By the very code that rebuilds a store, into an empty one in memory."""
    past = NatsPast(bus, last)
    store = MemoryStore()
    await store.begin_rebuild("audit", _LOCK_MS)
    count = await rebuild(cast(Bus, past), store, "audit")  # a rebuild publishes and reads, no more
    rows = {table: {key: (row.rev, row.data) for key, row in rows.items()} for table, rows in store.rows.items()}
    quota = store.counters.get(decision.QUOTA, {})
    kept = flat(Working(rows, quota))
    return _Replay(count, past.read, state_hash(kept, quota), kept)


async def _breaches(bus: NatsBus, last: int) -> tuple[list[Violation], Findings]:
    """What is broken by the record alone, with all that was found. What only its end shows, and the next messages may
    mend, counts when it is still so after a while."""
    checker = Checker(None, grace=Grace(tree=HEARD_MS))
    start = 1
    await _hear(checker, bus, start, last)
    await hear_of_evictions(checker, bus)
    found = list(checker.findings().violations)
    for _ in range(_LOOKS):
        if not found:
            break
        await asyncio.sleep(SETTLES_MS / 1000)
        start = last + 1
        last = await newest(bus)
        await _hear(checker, bus, start, last)
        await hear_of_evictions(checker, bus)
        found = [one for one in checker.findings().violations if one in {*found}]
    return found, checker.findings()


async def _hear(checker: Checker, bus: NatsBus, start: int, last: int) -> None:
    async for one in NatsPast(bus, last).history(subjects.JOBS, start=start):
        try:
            message = _decode(one.data)
        except msgspec.DecodeError:
            continue  # its consumer has put it among the dead letters
        checker.hear(Spoken(one.sequence, one.id, one.subject, message))
