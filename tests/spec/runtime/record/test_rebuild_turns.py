"""A rebuild of many jobs leaves others their turn: its own lock is renewed beside it, and would be lost."""

import asyncio

import msgspec

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain import decision
from fairway.runtime.ports import Outgoing, Wanted
from fairway.runtime.record.rebuild import rebuild
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.reasons import Code
from tests.spec.builders.lives import GPU, SLOTS, Life, spec

JOBS = 500
VERDICT = wire.Verdict("c1", Code.FITS, "", {"needed": 4})


def life(name: str) -> Life:
    said = Life(name).then(wire.Submitted, manifest=msgspec.Raw(b"{}"))
    said.then(wire.Admitted, attempt=1, spec=spec(name)).then(wire.Queue, queue="gold")
    said.then(wire.Dequeued, path=("root",), charge={GPU: 8})
    return said.then(wire.Placed, cluster="c1", slots=SLOTS, verdicts=(VERDICT,))


async def test_a_rebuild_gives_others_a_turn_every_few_hundred_events_and_leaves_out_nothing() -> None:
    bus = MemoryBus()
    store = MemoryStore()
    for number in range(JOBS):
        for sequence, one in life(f"j{number}").said:
            name = f"j{number}-{sequence}"
            await bus.publish([Outgoing(name, subjects.job(one.verb, "team-a"), msgspec.json.encode(one))])
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    beside = asyncio.create_task(others())
    assert await store.begin_rebuild("me", 1_000)
    assert await rebuild(bus, store, "me") == JOBS
    beside.cancel()
    assert turns >= JOBS * 4 // 250
    found = await store.read(Wanted(whole=(decision.JOBS, decision.LIVE, decision.PLACED, decision.QUOTA)))
    assert {table: len(rows) for table, rows in found.whole.items()} == {"jobs": JOBS, "live": JOBS, "placed": JOBS}
    said = life("j7").said[-1][1]
    assert found.whole[decision.PLACED]["j7"].data == msgspec.json.encode(said), "with all verdicts"
    assert found.counters == {"quota": {f"root|{GPU}": 8 * JOBS}}
