"""What a member in pull mode may say on the bus: deploy/nats/members.conf on a real nats-server."""

from collections.abc import AsyncIterator
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client

from fairway.adapters.embedded import nats_server
from fairway.adapters.nats_bus import NatsBus
from fairway.wire import subjects

CONF = Path(__file__).parents[2] / "deploy" / "nats" / "members.conf"


def permissions() -> str:
    text = CONF.read_text().replace("$FAIRWAY_BUS_PASSWORD", "hub-secret")
    return text.replace("$FAIRWAY_NORTH_PASSWORD", "north-secret")


@pytest.fixture
async def north(tmp_path: Path) -> AsyncIterator[Client]:
    async with await nats_server(tmp_path, more=permissions()) as server:
        bus = await NatsBus.connect(server.url.replace("://", "://fairway:hub-secret@"), "hub")
        await bus.provision(subjects.RECORD, 1)

        async def ignored(error: Exception) -> None:
            """A refusal is told besides; the answer that does not come is what is looked at."""

        url = server.url.replace("://", "://north:north-secret@")
        member = await nats.connect(url, error_cb=ignored, inbox_prefix=b"_INBOX_north")
        yield member
        await member.close()
        await bus.close()


async def stored(member: Client, subject: str) -> bool:
    try:
        await member.jetstream().publish(subject, b"{}", timeout=0.5)
    except (TimeoutError, nats.errors.TimeoutError):
        return False
    return True


async def test_a_member_speaks_for_itself_alone_and_can_say_that_a_node_is_lost(north: Client) -> None:
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
