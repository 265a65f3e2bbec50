"""A NATS that takes any message for a request to JetStream is told of at the start; those of Fairway's own do not."""

from pathlib import Path

import pytest
import structlog
from bus_users import server

from fairway.adapters.nats_bus import NatsBus
from fairway.app.streams import lax


async def found_lax(url: str) -> tuple[bool, list[str]]:
    bus = await NatsBus.connect(url, "services")
    try:
        with structlog.testing.capture_logs() as lines:
            return await lax(bus), [one["event"] for one in lines]
    finally:
        await bus.close()


@pytest.mark.parametrize(
    ("said", "want"),
    [
        pytest.param("strict: false", (True, ["JetStream is not strict"]), id="one that says it is not strict"),
        pytest.param("strict: true", (False, []), id="one that says it is"),
        pytest.param("", (False, []), id="one of this version that says nothing"),
    ],
)
async def test_a_server_is_known_by_its_answer(tmp_path: Path, said: str, want: tuple[bool, list[str]]) -> None:
    async with server(tmp_path, said) as where:
        assert await found_lax(f"nats://fairway:secret@{where}") == want


async def test_a_user_who_may_not_ask_is_told_nothing(tmp_path: Path) -> None:
    """Nobody answers, and a server is not called lax for that."""
    async with server(tmp_path, "strict: false") as where:
        assert await found_lax(f"nats://team-a:secret@{where}") == (False, [])


async def test_the_embedded_server_is_strict(nats_url: str) -> None:
    assert await found_lax(nats_url) == (False, [])
