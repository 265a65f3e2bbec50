"""The configurations of NATS and Valkey: what these accept, who may come, and how they keep what they are given."""

import re
import subprocess
from pathlib import Path

import pytest

from fairway.lab.processes.embedded_servers import nats_program, valkey_program
from tests.tidy.source import ROOT


@pytest.mark.parametrize("name", ["nats/nats.conf", "local/nats.conf"])
def test_nats_accepts_its_configuration(name: str, tmp_path: Path) -> None:
    command = [nats_program(), "-t", "-c", str(ROOT / "deploy" / name)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", ["local/nats.conf", "local/valkey.conf"])
def test_a_server_without_a_container_listens_on_loopback_only(name: str) -> None:
    """Neither asks who comes."""
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
    config = tmp_path / "valkey.conf"
    config.write_text((ROOT / "deploy" / name).read_text() + "\nlast-word yes\n")
    run = subprocess.run([valkey_program(), str(config)], capture_output=True, text=True, check=False, timeout=10)
    assert run.returncode != 0
    assert ">>> 'last-word yes'" in run.stderr
