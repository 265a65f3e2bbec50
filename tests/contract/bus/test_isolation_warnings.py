"""A NATS that keeps tenants and members less apart than it should is told of at the start."""

import re
from pathlib import Path

import pytest
import structlog

from fairway.adapters.logins import LoginFile
from fairway.adapters.nats.bus import NatsBus
from fairway.lab.processes.embedded_servers import account, nats_server
from fairway.operate.setup.credentials import write
from fairway.process.servers.bus_isolation import told_of_doubts
from tests.paths import ROOT
from tests.support.bus_users import server

LAX = "JetStream is not strict"
SHARED = "the services share their account of NATS with all its users"


async def told(url: str) -> list[str]:
    bus = await NatsBus.connect(url, "services")
    try:
        with structlog.testing.capture_logs() as lines:
            await told_of_doubts(bus)
        assert all(line["remedy"] for line in lines)
        return [line["event"] for line in lines if line["event"] in (LAX, SHARED)]
    finally:
        await bus.close()


@pytest.mark.parametrize(
    ("said", "want"),
    [
        pytest.param("strict: false", [LAX], id="one that says it is not strict"),
        pytest.param("strict: true", [], id="one that says it is"),
        pytest.param("", [], id="one of this version that says nothing"),
    ],
)
async def test_a_server_is_known_by_its_answer(tmp_path: Path, said: str, want: list[str]) -> None:
    async with server(tmp_path, said) as where:
        assert await told(f"nats://fairway:secret@{where}") == want


@pytest.mark.parametrize(
    ("rules", "who", "want"),
    [
        pytest.param("", "", [], id="without users everybody is the services"),
        pytest.param(
            "authorization { users: [ { user: fairway, password: x }, { user: team-a, password: y } ] }",
            "fairway:x@",
            [SHARED],
            id="users without accounts",
        ),
        pytest.param(
            "accounts { FAIRWAY { jetstream: enabled, users: [ { user: fairway, password: x } ] } }",
            "fairway:x@",
            [],
            id="an account of their own",
        ),
    ],
)
async def test_users_in_one_account_with_the_services_are_told_of(
    tmp_path: Path, rules: str, who: str, want: list[str]
) -> None:
    async with await nats_server(tmp_path, more=rules) as running:
        assert await told(running.url.replace("://", f"://{who}")) == want


async def test_where_nobody_answers_there_is_nothing_to_tell(tmp_path: Path) -> None:
    async with server(tmp_path, "strict: false") as where:
        assert await told(f"nats://team-a:secret@{where}") == []


async def test_what_the_server_itself_warns_of_is_explained_to_its_operator(tmp_path: Path) -> None:
    write(made := tmp_path / "made", {})
    users = account(made / "nats/services.conf", tmp_path / "nats")
    async with await nats_server(tmp_path / "nats", more=users) as running:
        bus = await NatsBus.connect(f"nats://{running.address}", "queue", login=LoginFile(made / "queue/nats"))
        await told_of_doubts(bus)
        await bus.close()
    warned = re.findall(r"\[WRN\] (.*)", running.log.read_text())
    assert len(warned) == 2
    known = re.findall(r"`([^`\n]+)`", (ROOT / "docs/operations.md").read_text())
    assert [text for text in warned if not any(text.startswith(one) for one in known)] == []
