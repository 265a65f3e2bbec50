"""`fairway setup`, and other commands, before a NATS that is not there or does not take the credential."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
import structlog

from fairway.adapters.logins import LoginFile
from fairway.adapters.nats.server_addresses import NotLetIn, let_in
from fairway.lab.processes.embedded_servers import account, nats_server
from fairway.lab.processes.server import free_ports
from fairway.operate.setup.credentials import write
from tests.support.commands import command

NOT_REACHED = "NATS is not reached"


@pytest.mark.parametrize("folder", ["nowhere", "empty"])
def test_without_a_credential_it_ends_at_once_and_names_the_file(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    done = command("setup", FAIRWAY_CREDENTIALS_DIR=str(tmp_path / folder))
    assert done.exit_code == 2
    assert f"{tmp_path / folder}/nats cannot be read: No such file" in done.output
    assert "FAIRWAY_CREDENTIALS_DIR names the folder of credentials" in done.output


def test_an_address_that_is_none_ends_it_at_once_and_is_not_shown() -> None:
    done = command("setup", FAIRWAY_NATS_URL="nats://ann:secret@127.0.0.1:port")
    assert done.exit_code == 2
    assert "FAIRWAY_NATS_URL has an address" in done.output and "secret" not in done.output


async def test_a_server_that_does_not_take_the_credential_ends_the_command(tmp_path: Path) -> None:
    """A password that it does not know, and the credential of a service, which may make no streams."""
    write(made := tmp_path / "made", {})
    async with await nats_server(
        tmp_path / "nats", more=account(made / "nats/services.conf", tmp_path / "nats")
    ) as nats:
        write(other := tmp_path / "other", {})
        for words, folder, code, why in (
            (
                ("setup",),
                other / "setup",
                1,
                "NATS lets nobody in by this credential: 'Authorization Violation'; FAIRWAY",
            ),
            (("setup",), made / "queue", 1, "; FAIRWAY_CREDENTIALS_DIR has to name the folder `setup`"),
            (("dlq", "list"), other / "operator", 6, "NATS lets nobody in by this credential: 'Authorization Viol"),
        ):
            where = {"FAIRWAY_NATS_URL": nats.url, "FAIRWAY_CREDENTIALS_DIR": str(folder)}
            done = await asyncio.to_thread(partial(command, *words, folder=tmp_path, **where))
            assert (done.exit_code, why in done.output) == (code, True), done.output
            assert "Traceback" not in done.output


async def test_a_server_that_is_not_there_yet_is_waited_for_with_the_cause(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with structlog.testing.capture_logs() as lines:
        waiting = asyncio.create_task(let_in(f"nats://127.0.0.1:{port}", None))
        async with asyncio.timeout(20):
            while not lines:
                await asyncio.sleep(0.02)
        assert not waiting.done()
        async with await nats_server(tmp_path, port=port), asyncio.timeout(20):
            await waiting
    assert lines[0]["event"] == NOT_REACHED and "Connect call failed" in lines[0]["cause"]
    assert "FAIRWAY_NATS_URL" in lines[0]["remedy"]


@pytest.mark.parametrize(
    ("greeting", "cause"),
    [
        pytest.param(None, "it does not answer in time", id="one that says nothing"),
        pytest.param(b"", "empty response", id="one that hangs up"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", "empty response", id="one that speaks otherwise"),
    ],
)
async def test_something_else_on_the_port_is_told_as_well(greeting: bytes | None, cause: str) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if greeting is None:
            await reader.read()  # until the other side gives up
        else:
            writer.write(greeting)
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    with structlog.testing.capture_logs() as lines:
        waiting = asyncio.create_task(let_in(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}", None))
        async with asyncio.timeout(20):
            while not lines:
                await asyncio.sleep(0.02)
        waiting.cancel()
        await asyncio.wait((waiting,))
    server.close()
    assert lines[0]["event"] == NOT_REACHED and cause in lines[0]["cause"]
    assert "FAIRWAY_NATS_URL" in lines[0]["remedy"]


async def test_who_is_not_known_is_told_by_the_server_itself(tmp_path: Path) -> None:
    write(made := tmp_path / "made", {})
    async with await nats_server(
        tmp_path / "nats", more=account(made / "nats/services.conf", tmp_path / "nats")
    ) as nats:
        with pytest.raises(NotLetIn, match="has to hold a user and a password that the server knows"):
            await let_in(f"nats://{nats.address}", None)
        await let_in(f"nats://{nats.address}", LoginFile(made / "queue/nats"))
