"""The configurations of NATS and Valkey: what these accept, who may come, and how they keep what they are given."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import redis.asyncio as redis
from redis.exceptions import NoPermissionError

from fairway.adapters.rights.bus_rights import CREDENTIALS
from fairway.lab.processes.embedded_servers import nats_program, valkey_program, valkey_server
from fairway.operate.setup import credentials
from tests.tidy.source import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """With what `fairway credentials` makes, at the places where the configurations look for it."""
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    credentials.write(tmp_path / "fairway-credentials", {})
    shutil.copytree(tmp_path / "fairway-credentials" / "nats", tmp_path / "deploy/nats/credentials")
    (tmp_path / "fairway-tls").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["nats/nats.conf", "local/nats.conf"])
def test_nats_accepts_its_configuration(name: str, checkout: Path) -> None:
    command = [nats_program(), "-t", "-c", f"deploy/{name}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=checkout)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", ["nats/nats.conf", "local/nats.conf", "nats/members.conf"])
def test_the_services_come_as_users_with_the_rights_of_their_work(name: str, checkout: Path) -> None:
    """And nobody comes as anybody else who may do all."""
    text = (checkout / "deploy" / name).read_text()
    (block,) = re.findall(r"^  FAIRWAY \{\n(.*?)^  \}", text, re.DOTALL | re.MULTILINE)
    (included,) = re.findall(r'^    include "(\S+)"$', block, re.MULTILINE)
    assert "users" not in block.replace(included, "")
    users = (checkout / "deploy" / name).parent / included
    assert re.findall(r'user: "([\w-]+)"', users.read_text()) == sorted(CREDENTIALS)


@pytest.mark.parametrize("name", ["local/nats.conf", "local/valkey.conf"])
def test_a_server_without_a_container_listens_on_loopback_only(name: str) -> None:
    """Their passwords are not encrypted on the way."""
    lines = (ROOT / "deploy" / name).read_text().splitlines()
    (listens,) = [line for line in lines if line.startswith(("listen", "bind"))]
    assert {word.strip('"').lstrip("-").partition(":4222")[0] for word in listens.split()[1:]} <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("name", ["nats/nats.conf", "local/nats.conf", "local/nats-members.conf"])
def test_every_jetstream_takes_no_other_message_for_a_request(name: str) -> None:
    (block,) = re.findall(r"^jetstream \{\n(.*?)^\}", (ROOT / "deploy" / name).read_text(), re.DOTALL | re.MULTILINE)
    said = dict(re.findall(r"^  (\w+): (\S+)$", block, re.MULTILINE))
    assert said.pop("store_dir") and said == {"sync_interval": "always", "strict": "true"}


def test_the_nats_that_members_reach_asks_who_comes_and_is_encrypted() -> None:
    text = (ROOT / "deploy/local/nats-members.conf").read_text()
    assert re.search(r"^tls \{", text, re.MULTILINE) and 'include "../nats/members.conf"' in text


@pytest.mark.parametrize("name", ["valkey/valkey.conf", "local/valkey.conf"])
def test_valkey_accepts_its_configuration_and_would_not_an_unknown_word(name: str, tmp_path: Path) -> None:
    """The second option is a word that Valkey does not know: all that comes before it was read and accepted."""
    text = (ROOT / "deploy" / name).read_text()
    assert "aclfile" in text
    config = tmp_path / "valkey.conf"
    config.write_text(f"{text}\nlast-word yes\n")
    run = subprocess.run([valkey_program(), str(config)], capture_output=True, text=True, check=False, timeout=10)
    assert run.returncode != 0
    assert ">>> 'last-word yes'" in run.stderr


async def test_the_users_that_are_made_are_those_that_valkey_knows(checkout: Path) -> None:
    users = checkout / "fairway-credentials/valkey/users.acl"
    async with await valkey_server(checkout / "data", users=users) as server:
        user, _, password = (checkout / "fairway-credentials/queue/valkey").read_text().strip().partition(":")
        async with redis.Redis(port=server.port, username=user, password=password) as queue:
            assert await queue.ping()
            with pytest.raises(NoPermissionError):
                await queue.flushall()
