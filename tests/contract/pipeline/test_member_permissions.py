"""What a member in pull mode may say on the bus: deploy/nats/members.conf on a real nats-server."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import msgspec
import pytest

from fairway.adapters.nats import publisher
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock, SystemIds
from fairway.agent import Agent, AgentSettings
from fairway.runtime.ports import Outgoing, Unreachable
from fairway.wire import subjects
from fairway.wire.fleet import Report
from tests.support.bus_users import at, connected, settled
from tests.support.memory.cluster import MemoryCluster


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
        subjects.cluster("report", "north"),
        subjects.cluster("stranded", "north"),
        subjects.config("Cluster", "", "north"),
    ]
    others = [
        subjects.cluster("report", "west"),
        subjects.cluster("stranded", "west"),
        subjects.cluster("freed", "north"),
        subjects.config("Cluster", "", "west"),
        subjects.config("Member", "", "north"),
        subjects.job("submitted", "team-a"),
        subjects.job("lost", "team-a"),
        subjects.inbound("submit", "team-a"),
        subjects.dead_letter("watcher"),
    ]
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


class Deaf:
    """The bus of a member whose acknowledgements are lost `times` times; what it says arrives."""

    def __init__(self, bus: NatsBus, times: int) -> None:
        self._bus = bus
        self._times = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> None:
        await self._bus.publish(messages, tries)
        if self._times:
            self._times -= 1
            raise Unreachable("nobody said that it was stored")


async def test_a_lost_acknowledgement_of_its_introduction_keeps_no_report_back(
    services: NatsBus, north: NatsBus
) -> None:
    """It cannot read back what a stream has under an id: it knows that nobody else can have chosen that one."""
    cluster = MemoryCluster("north", SystemClock(), ["Node.v1", "Pod.v1", "Namespace.v1"])
    agent = Agent(cluster, cast(NatsBus, Deaf(north, 1)), SystemClock(), SystemIds(), AgentSettings())
    running = asyncio.create_task(agent.run())
    try:
        async with asyncio.timeout(4):
            report = await anext(aiter(_said(services)))
        assert report.full and not agent.why
        assert len([one async for one in services.history(subjects.CONFIG)]) == 1
    finally:
        running.cancel()
        await asyncio.wait((running,))


async def _said(services: NatsBus) -> AsyncIterator[Report]:
    async for one in services.history(subjects.CLUSTERS, live=True):
        if one.subject == subjects.cluster("report", "north"):
            yield msgspec.json.decode(one.data, type=Report)


async def test_of_what_it_cannot_read_back_it_waits_for_one_answer_and_not_for_each(
    services: NatsBus, north: NatsBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [Outgoing(f"r-{at}", subjects.cluster("report", "north"), b"%d" % at) for at in range(80)]
    await north.publish(words)
    monkeypatch.setattr(publisher, "_PUBLISH_WAIT_S", 0.3)
    with pytest.raises(Unreachable, match="80 messages"):
        async with asyncio.timeout(2):
            await north.publish(words, tries=1)


async def test_it_hears_who_asks_for_a_full_report(services: NatsBus, north: NatsBus) -> None:
    asked = asyncio.Event()

    async def heard(data: bytes) -> None:
        asked.set()

    await north.answer(subjects.resync("north"), heard)
    await north.client.flush()
    async with asyncio.timeout(10):
        while not asked.is_set():  # core NATS stores nothing: the reserver asks again, too
            await services.tell(subjects.resync("north"))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asked.wait(), 0.5)
