"""`fairway credentials` and `fairway setup`: what they write and make, and what they refuse."""

import asyncio
import re
import stat
from functools import partial
from pathlib import Path

import pytest
from nats.js.errors import NotFoundError

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.rights.bus_rights import CREDENTIALS, SERVICES
from fairway.lab.processes.embedded_servers import account, nats_server
from fairway.process.servers.streams import made
from fairway.runtime.ports import Unreachable
from fairway.wire import flow, subjects
from tests.support.commands import command as run


def passwords(folder: Path) -> dict[str, str]:
    return {one.parent.name: one.read_text() for one in folder.glob("*/nats")}


def test_each_credential_has_a_folder_and_both_servers_know_its_user(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    assert run("credentials", str(folder), "--process", "pair=queue,quota").exit_code == 0
    found = passwords(folder)
    assert set(found) == {*CREDENTIALS, "pair"}
    assert len({*found.values()}) == len(found), "no two have one password"
    of_nats = (folder / "nats/services.conf").read_text()
    of_valkey = (folder / "valkey/users.acl").read_text()
    for name, line in found.items():
        user, _, password = line.strip().partition(":")
        assert user == name and f'user: "{name}", password: "{password}"' in of_nats
        assert password not in of_valkey
        assert (folder / name / "valkey").exists() is (f"user {name} on #" in of_valkey)
    (pair,) = re.findall(r'user: "pair".*?\n  \} \}', of_nats, re.DOTALL)
    assert '"fairway.job.dequeued.*"' in pair and '"fairway.job.rejected.*"' in pair, "what queue and quota say"
    assert '"fairway.job.placed.*"' not in pair


def test_nobody_else_can_read_them(tmp_path: Path) -> None:
    run("credentials", str(tmp_path / "made"))
    modes = {stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "made").rglob("*")}
    assert modes == {0o600, 0o700}


def test_made_again_they_keep_their_passwords_but_for_what_is_renewed(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    run("credentials", str(folder))
    before = passwords(folder)
    run("credentials", str(folder))
    assert passwords(folder) == before
    assert run("credentials", str(folder), "--renew", "queue").exit_code == 0
    after = passwords(folder)
    assert [name for name in before if before[name] != after[name]] == ["queue"]


def test_a_process_that_was_named_once_is_let_in_whenever_they_are_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    run("credentials", str(folder), "--process", "pair=queue,quota")
    before = passwords(folder)["pair"].strip().partition(":")[2]
    assert run("credentials", str(folder), "--renew", "queue").exit_code == 0
    assert f'user: "pair", password: "{before}"' in (folder / "nats/services.conf").read_text()
    assert "user pair on #" in (folder / "valkey/users.acl").read_text()
    assert run("credentials", str(folder), "--renew", "pair").exit_code == 0
    assert passwords(folder)["pair"].strip().partition(":")[2] != before


def test_a_list_of_processes_that_is_none_is_said(tmp_path: Path) -> None:
    run("credentials", str(tmp_path / "made"))
    (tmp_path / "made/processes.json").write_text("{")
    done = run("credentials", str(tmp_path / "made"))
    assert done.exit_code == 2 and "processes.json cannot be read" in done.output


WRONG = {
    "a service that is none": (("--process", "pair=queue,nobody"), "names nobody, which is no service"),
    "no service": (("--process", "pair="), "names no service"),
    "a name that is a service's": (("--process", "queue=queue"), "'queue' cannot be the name of a process"),
    "a name of a folder": (("--process", "nats=queue"), "'nats' cannot be the name of a process"),
    "a name that leaves the folder": (("--process", "../up=queue"), "'../up' cannot be the name of a process"),
    "nobody to renew": (("--renew", "nobody"), "there is no credential nobody"),
}


@pytest.mark.parametrize(("words", "why"), WRONG.values(), ids=list(WRONG))
def test_what_cannot_be_made_is_refused(tmp_path: Path, words: tuple[str, str], why: str) -> None:
    done = run("credentials", str(tmp_path / "made"), *words)
    assert done.exit_code == 2 and why in done.output


def test_all_stands_for_every_service_but_the_keeper_which_may_delete(tmp_path: Path) -> None:
    run("credentials", str(tmp_path / "without"), "--process", "one=all")
    made = (tmp_path / "without/nats/services.conf").read_text()
    assert [one for one in made.split("user: ") if "MSG.DELETE.JOBS" in one and not one.startswith('"keeper"')] == []
    run("credentials", str(tmp_path / "all"), "--process", "one=all,keeper")
    run("credentials", str(tmp_path / "named"), "--process", f"one={','.join(SERVICES)}")
    (one, other) = (
        re.findall(r'user: "one".*', (tmp_path / name / "nats/services.conf").read_text(), re.DOTALL)[0]
        for name in ("all", "named")
    )
    assert re.sub('password: "[^"]*"', "", one) == re.sub('password: "[^"]*"', "", other)


async def test_setup_makes_the_streams_and_consumers_and_a_service_waits_for_them(tmp_path: Path) -> None:
    run("credentials", str(tmp_path / "made"))
    users = account(tmp_path / "made/nats/services.conf", tmp_path / "nats")
    async with await nats_server(tmp_path / "nats", more=users) as server:
        line = (tmp_path / "made/queue/nats").read_text().strip()
        queue = await NatsBus.connect(f"nats://{line}@{server.address}", "queue")
        try:
            assert await queue.missing(subjects.RECORD) == [one.name for one in subjects.RECORD]
            where = {"FAIRWAY_NATS_URL": server.url, "FAIRWAY_CREDENTIALS_DIR": str(tmp_path / "made/setup")}
            done = await asyncio.to_thread(partial(run, "setup", **where))
            assert done.exit_code == 0, done.output
            assert "CLUSTERS, CONFIG, DLQ, FOUND, IN, JOBS, RELIEF, STATUS, VIEWS" in done.output
            assert await made(queue, views=True)
            source = await queue.consume(*flow.consumer("queue"))
            await source.close()
        finally:
            await queue.close()


async def test_a_consumer_of_another_version_or_none_is_said_with_what_to_do(nats_url: str) -> None:
    bus = await NatsBus.connect(nats_url, "test")
    try:
        await bus.provision()
        stream, name, heard = flow.consumer("quota")
        with pytest.raises(Unreachable, match=r"of another version, which differs in fairway\.job\.held"):
            await bus.consume(stream, name, (*heard, "fairway.job.held.>"))
        await bus.client.jetstream().delete_consumer(stream, name)
        with pytest.raises(Unreachable, match="has no consumer quota; run `fairway setup`"):
            await bus.consume(stream, name, heard)
        with pytest.raises(NotFoundError):
            await bus.client.jetstream().consumer_info(stream, name)
    finally:
        await bus.provision()
        await bus.close()
