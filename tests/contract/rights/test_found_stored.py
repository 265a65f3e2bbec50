"""What a placement found, stored apart by the scheduler's credential and read by the door's, on a real nats-server."""

import asyncio
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Raw

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import FoundApart
from fairway.domain.recorded_verdicts import verdicts
from fairway.lab.processes.embedded_servers import account, nats_server
from fairway.runtime.ports import World
from fairway.runtime.publishing import Publishing
from fairway.runtime.record.found_reader import FoundReader
from fairway.runtime.record.found_writer import FoundWriter
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.wire.spec import Found, FoundRef
from tests.support.commands import command as run

NAMES = tuple(f"cluster-{number}" for number in range(1_000))


def found(job: str) -> FoundApart:
    """Of more clusters than go along with an event."""
    values = Found((), ((Code.NOT_ENOUGH, ""),), 0, {"short": {"by_node": tuple(range(1_000))}})
    return FoundApart(job, 4, NAMES, Raw(msgspec.msgpack.encode(values)), FoundRef())


async def test_the_scheduler_stores_it_and_the_door_reads_it_with_no_more_rights_than_the_table_gives(
    tmp_path: Path,
) -> None:
    run("credentials", str(tmp_path / "made"))
    users = account(tmp_path / "made/nats/services.conf", tmp_path / "nats")
    async with await nats_server(tmp_path / "nats", more=users) as server:
        where = {"FAIRWAY_NATS_URL": server.url, "FAIRWAY_CREDENTIALS_DIR": str(tmp_path / "made/setup")}
        assert (await asyncio.to_thread(partial(run, "setup", **where))).exit_code == 0
        lines = [(tmp_path / "made" / name / "nats").read_text().strip() for name in ("global-scheduler", "gateway")]
        scheduler, door = [await NatsBus.connect(f"nats://{line}@{server.address}", "test") for line in lines]
        try:
            world = World(scheduler, MemoryStore(), SystemClock(), "me")
            writer = FoundWriter("global-scheduler", world, Publishing("global-scheduler", world))
            several = [found(f"job-{number}") for number in range(300)]
            async with asyncio.timeout(20):
                for batch in (several[:200], several[200:]):
                    await writer.store(batch, nothing)
                reader = FoundReader(door)
                for one in several:
                    event = wire.Queue(tenant="t", job=one.job, rev=4, queue="q", found=as_heard(one.ref))
                    told = verdicts(await reader.message(event))
                    assert [row.numbers.get("by_node", 0) for row in told] == [*range(1_000)]
                    assert (told[0].cluster, told[-1].cluster) == (NAMES[0], NAMES[-1])
        finally:
            await scheduler.close()
            await door.close()


async def nothing() -> None:
    return None


def as_heard(ref: FoundRef) -> Raw:
    return Raw(msgspec.json.encode(ref))
