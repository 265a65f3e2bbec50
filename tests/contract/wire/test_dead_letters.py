"""What cannot be read goes to the dead letters, with the reason and where it came from; what follows it is handled."""

import asyncio

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.quota.service import service
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Delivery, Outgoing, World
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, jobs, subjects
from fairway.wire.reasons import Code
from tests.support.memory.clock import ManualClock

SUBJECT = subjects.job(jobs.Admitted.verb, "team-a")


async def first_dead_letter(bus: MemoryBus) -> Delivery:
    async for one in bus.history(subjects.DLQ, live=True):
        if one.subject:
            return one
    raise AssertionError("a live history does not end")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        pytest.param(b"\xff\xfe", "malformed", id="no JSON"),
        pytest.param(b'{"type":"unheard_of","tenant":"team-a"}', "unheard_of", id="a type that nobody knows"),
        pytest.param(b'{"type":"admitted","tenant":7}', "tenant", id="a field of another kind"),
        pytest.param(b'{"type":"admitted","tenant":"team-a"}', "spec", id="a field that is missing"),
    ],
)
async def test_what_does_not_decode_is_kept_for_an_operator(data: bytes, says: str) -> None:
    bus = MemoryBus()
    loop = Loop(service(Catalog()), World(bus, MemoryStore(), ManualClock(1_000), "test"), Meter())
    running = asyncio.create_task(loop.run())
    await bus.publish([Outgoing("before", subjects.job("queue", "team-a"), b"{}"), Outgoing("bad", SUBJECT, data)])
    found = await asyncio.wait_for(first_dead_letter(bus), 10)
    running.cancel()
    letter = msgspec.json.decode(found.data, type=fleet.DeadLetter)
    assert found.subject == subjects.dead_letter("quota")
    assert (letter.service, letter.subject, letter.stream, letter.sequence) == ("quota", SUBJECT, subjects.JOBS, 2)
    assert (letter.data, letter.at, letter.why.code) == (data, 1_000, Code.UNDECODABLE)
    assert says in letter.why.text
