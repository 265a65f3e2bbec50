"""What a member in pull mode may say on the bus: deploy/nats/members.conf on a real nats-server."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from bus_users import at, connected, settled

from fairway.adapters.nats_bus import NatsBus
from fairway.runtime.ports import Outgoing
from fairway.wire import subjects


@pytest.fixture
async def services(where: str) -> AsyncIterator[NatsBus]:
    bus = await NatsBus.connect(at(where, "fairway"), "services")
    await bus.provision(subjects.RECORD, 1)
    yield bus
    await bus.close()


@pytest.fixture
async def north(where: str) -> AsyncIterator[NatsBus]:
    """As `fairway run member` connects."""
    bus = await NatsBus.connect(at(where, "north"), "member", inbox="_INBOX_north")
    yield bus
    await bus.close()


async def refused(where: str, subject: str) -> bool:
    """Whether the server says that this may not be said."""
    async with connected(where, "north") as (client, complaints):
        await client.publish(subject, b"{}")
        await settled(client)
        assert all("permissions violation" in one.lower() for one in complaints), complaints
        return bool(complaints)


async def test_a_member_speaks_for_itself_alone_and_can_say_that_a_node_is_lost(
    services: NatsBus, north: NatsBus, where: str
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
    for subject in own:
        assert (await north.client.jetstream().publish(subject, b"{}", timeout=10)).seq
    assert [subject for subject in (*own, *others) if await refused(where, subject)] == others


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
