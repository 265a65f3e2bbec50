"""The file of a credential: what it has to be, and that a change of it is seen."""

import asyncio
import os
import ssl
from pathlib import Path

import nats.errors
import pytest
import structlog

from fairway.adapters.logins import Login, LoginFile
from fairway.adapters.nats.server_addresses import Complaints


def file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "nats"
    path.write_text(text)
    path.chmod(mode)
    return path


WRONG = {
    "nothing": ("", "one line, USER:PASSWORD"),
    "no password": ("queue:\n", "one line, USER:PASSWORD"),
    "no user": (":secret\n", "one line, USER:PASSWORD"),
    "two lines": ("queue:one\nquota:two\n", "one line, USER:PASSWORD"),
}


@pytest.mark.parametrize(("text", "why"), WRONG.values(), ids=list(WRONG))
def test_what_is_no_credential_is_refused_by_the_name_of_its_file(tmp_path: Path, text: str, why: str) -> None:
    path = file(tmp_path, text)
    with pytest.raises(ValueError, match=why) as told:
        LoginFile(path)
    assert str(path) in str(told.value)


def test_a_file_that_everybody_can_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="can be read by every user"):
        LoginFile(file(tmp_path, "queue:secret", 0o644))


def test_a_file_that_is_not_there_is_told_with_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot be read: No such file.*FAIRWAY_CREDENTIALS_DIR"):
        LoginFile(tmp_path / "nats")


def test_a_password_may_hold_colons(tmp_path: Path) -> None:
    assert LoginFile(file(tmp_path, "queue:a:b:c\n")).last == Login("queue", "a:b:c")


async def test_a_change_is_seen_within_two_seconds(tmp_path: Path) -> None:
    login = LoginFile(file(tmp_path, "queue:old\n"))
    watch = asyncio.create_task(login.changed(login.last))
    await asyncio.sleep(0)
    other = file(tmp_path, "queue:new\n").rename(tmp_path / "draft")
    os.replace(other, tmp_path / "nats")
    async with asyncio.timeout(2):
        assert await watch == Login("queue", "new")
    assert login.password() == "new"


def test_while_it_cannot_be_read_what_it_said_last_counts(tmp_path: Path) -> None:
    login = LoginFile(path := file(tmp_path, "queue:old\n"))
    path.unlink()
    assert (login.user(), login.password()) == ("queue", "old")


async def test_a_server_that_turns_us_out_is_told_of_once_and_not_at_every_try() -> None:
    complaints = Complaints()
    with structlog.testing.capture_logs() as lines:
        for _ in range(5):
            await complaints.hear(nats.errors.Error("nats: 'Authorization Violation'"))
        await complaints.hear(nats.errors.Error("nats: 'user authentication revoked'"))
        await complaints.hear(nats.errors.Error("nats: slow consumer"))
    assert [line["cause"] for line in lines] == ["'Authorization Violation'", "'user authentication revoked'"]


async def test_why_a_server_is_not_reached_is_told_once_with_what_to_do() -> None:
    complaints = Complaints()
    with structlog.testing.capture_logs() as lines:
        for _ in range(5):
            await complaints.hear(ConnectionRefusedError("nobody is there"))
        await complaints.hear(ssl.SSLCertVerificationError("self-signed certificate"))
    assert [line["event"] for line in lines] == ["NATS is not reached", "NATS is not trusted"]
    assert "FAIRWAY_NATS_URL" in lines[0]["remedy"] and "SSL_CERT_FILE" in lines[1]["remedy"]
