"""Who publishes names the subject that the acknowledgement goes to, and NATS does not ask whether it may say anything
there: whatever a tenant or a member names, nobody else is told anything, and no stream keeps it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from fairway.adapters.nats.bus import NatsBus
from fairway.runtime.ports import Outgoing
from fairway.wire import subjects
from tests.support.bus_users import at, connected, without_streams
from tests.support.twins import consumed

SAYS = {
    "a tenant that submits": ("team-a", subjects.inbound("submit", "team-a"), "IN"),
    "a tenant that cancels": ("team-a", subjects.inbound("cancel", "team-a"), "IN"),
    "a member that reports": ("north", subjects.cluster("report", "north"), "CLUSTERS"),
    "a member that lost a node": ("north", subjects.cluster("stranded", "north"), "CLUSTERS"),
    "a member that says its name": ("north", subjects.config("Cluster", "", "north"), "CONFIG"),
}
TREE = subjects.config("ElasticQuotaTree", "kube-system", "elasticquotatree")
SAID = {
    "JOBS": subjects.job("submitted", "team-b"),
    "CONFIG": TREE,
    "DLQ": subjects.dead_letter("quota"),
    "IN": subjects.inbound("submit", "team-b"),
    "CLUSTERS": subjects.cluster("report", "west"),
    "VIEWS": subjects.view("whole", "global-scheduler"),
}
# What streams keep, what others hear, and what JetStream is asked with.
REPLIES = [
    *SAID.values(),
    subjects.config("TenantProfile", "", "vision"),
    subjects.config("Cluster", "", "west"),
    subjects.job("cancel", "team-b"),
    subjects.job("lost", "team-a"),
    subjects.cluster("stranded", "west"),
    subjects.inbound("cancel", "team-b"),
    "fairway.member.west.ask",
    "fairway.member.west.at.x",
    "fairway.member.north.ask",
    "fairway.member.west.reply.x.1",
    subjects.resync("west"),
    "fairway.ask.queue",
    "_INBOX.x.1",
    "_INBOX_team-b.x",
    "_INBOX_west.x",
    "$JS.API.STREAM.PURGE.JOBS",
    "$JS.API.STREAM.DELETE.JOBS",
    "$JS.API.STREAM.MSG.DELETE.JOBS",
    "$JS.API.STREAM.CREATE.MINE",
    "$JS.API.CONSUMER.DELETE.JOBS.quota",
    "$JS.API.CONSUMER.MSG.NEXT.JOBS.quota",
    "$JS.ACK.JOBS.quota.1.1.1.1.0",
    "$JS.API.INFO",
    "_R_.x",
]
HEADERS = ("Nats-Trace-Dest", "Nats-Rollup", "Nats-Expected-Stream", "Nats-TTL", "Nats-Schedule-Target")
# Everything that each may hear; the services may hear all.
_HEARS = {
    "fairway": [">"],
    "team-a": ["fairway.job.*.team-a"],
    "team-b": ["fairway.job.*.team-b", "_INBOX_team-b.>"],
    "north": ["fairway.member.north.ask", "fairway.member.north.at.>", "fairway.ask.report.north"],
    "west": ["fairway.member.west.ask", "fairway.member.west.at.>", "fairway.ask.report.west", "_INBOX_west.>"],
}
# Made by the server for one message.
_WAY_BACK = re.compile(r"_R_\.\w{6,}\.\w+")
Kept = dict[str, list[tuple[str, bytes]]]


class House:
    """The fleet's streams with one message in each, and a consumer of one."""

    def __init__(self, where: str, bus: NatsBus) -> None:
        self.where = where
        self.bus = bus
        # What others than who spoke were told.
        self.heard: list[tuple[str, str]] = []

    async def kept(self) -> Kept:
        return {name: [(one.subject, one.data) async for one in self.bus.history(name)] for name in SAID}

    async def listen(self, user: str, client: Client) -> None:
        async def hear(msg: Msg) -> None:
            self.heard.append((user, msg.subject))

        for subject in _HEARS[user]:
            await client.subscribe(subject, cb=hear)
        await client.flush()

    async def said(self, user: str, subject: str) -> None:
        """By this user, with every reply and header, while all others listen."""
        async with AsyncExitStack() as stack:
            clients = {name: (await stack.enter_async_context(connected(self.where, name)))[0] for name in _HEARS}
            for name, client in clients.items():
                if name != user:
                    await self.listen(name, client)
            for reply in REPLIES:
                await clients[user].publish(subject, b"{}", reply=reply)
            for header in HEADERS:
                await clients[user].publish(subject, b"{}", headers={header: SAID["JOBS"]})
            # What is acknowledged last has the others' acknowledgements before it, and each drains what came to it.
            await clients[user].jetstream().publish(subject, b"{}", timeout=10)
            await asyncio.gather(*(client.drain() for client in clients.values()))


@pytest.fixture(params=["strict: true", "strict: false"])
async def house(request: pytest.FixtureRequest, strict_accounts: str, lax_accounts: str) -> AsyncIterator[House]:
    where = await without_streams({"strict: true": strict_accounts, "strict: false": lax_accounts}[request.param])
    bus = await NatsBus.connect(at(where, "fairway"), "services")
    await bus.provision()
    await bus.publish([Outgoing(f"said-{name}", subject, b"said") for name, subject in SAID.items()])
    await consumed(bus, "JOBS", "quota", ["fairway.job.never.>"])
    yield House(where, bus)
    await bus.close()


@pytest.mark.parametrize(("user", "subject", "stream"), SAYS.values(), ids=list(SAYS))
async def test_an_acknowledgement_reaches_nobody_but_who_published(
    house: House, user: str, subject: str, stream: str
) -> None:
    before = await house.kept()
    await house.said(user, subject)
    after = await house.kept()
    own = (subject, b"{}")
    assert own in after[stream], "what was tried was stored, and so acknowledged"
    assert {name: [one for one in kept if one != own] for name, kept in after.items()} == before
    # The services hear what was said, and on their server's way back to the sender what was acknowledged.
    others = {(who, told) for who, told in house.heard if told != subject and not _WAY_BACK.fullmatch(told)}
    assert others == set()
    assert (await house.bus.client.jetstream().consumer_info("JOBS", "quota")).name == "quota"
