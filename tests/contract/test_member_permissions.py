"""What a member in pull mode may say on the bus: deploy/nats/members.conf on a real nats-server."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import nats.errors
import pytest
from bus_users import server

from fairway.adapters.nats_bus import NatsBus
from fairway.runtime.ports import Outgoing
from fairway.wire import subjects


@pytest.fixture
async def where(tmp_path: Path) -> AsyncIterator[str]:
    async with server(tmp_path) as found:
        yield found


@pytest.fixture
async def services(where: str) -> AsyncIterator[NatsBus]:
    bus = await NatsBus.connect(f"nats://fairway:secret@{where}", "services")
    await bus.provision(subjects.RECORD, 1)
    yield bus
    await bus.close()


@pytest.fixture
async def north(where: str) -> AsyncIterator[NatsBus]:
    """As `fairway run member` connects."""
    bus = await NatsBus.connect(f"nats://north:secret@{where}", "member", inbox="_INBOX_north")
    yield bus
    await bus.close()


async def stored(member: NatsBus, subject: str) -> bool:
    try:
        await member.client.jetstream().publish(subject, b"{}", timeout=0.5)
    except (TimeoutError, nats.errors.TimeoutError):
        return False
    return True


async def test_a_member_speaks_for_itself_alone_and_can_say_that_a_node_is_lost(
    services: NatsBus, north: NatsBus
) -> None:
    own = [
        subjects.cluster("report", "north"), subjects.cluster("stranded", "north"),
        subjects.config("Cluster", "", "north"),
    ]  # fmt: skip
    others = [
        subjects.cluster("report", "west"), subjects.cluster("stranded", "west"), subjects.cluster("freed", "north"),
        subjects.config("Cluster", "", "west"), subjects.config("Member", "", "north"),
        subjects.job("submitted", "team-a"), subjects.job("lost", "team-a"), subjects.inbound("submit", "team-a"),
        subjects.dead_letter("watcher"),
    ]  # fmt: skip
    assert [subject for subject in own if not await stored(north, subject)] == []
    assert [subject for subject in others if await stored(north, subject)] == []


async def test_what_it_says_is_acknowledged_and_stands_in_the_record_with_its_id(
    services: NatsBus, north: NatsBus
) -> None:
    words = [Outgoing(f"r-{at}", subjects.cluster("report", "north"), b"%d" % at) for at in range(300)]
    await north.publish(words, tries=1)
    found = [one async for one in services.history("CLUSTERS")]
    assert [(one.id, one.data) for one in found] == [(one.id, one.data) for one in words]


async def test_it_hears_who_asks_for_a_full_report(services: NatsBus, north: NatsBus) -> None:
    asked = asyncio.Event()

    async def heard(data: bytes) -> None:
        asked.set()

    await north.answer(subjects.resync("north"), heard)
    await north.client.flush()
    await services.tell(subjects.resync("north"))
    async with asyncio.timeout(5):
        await asked.wait()
