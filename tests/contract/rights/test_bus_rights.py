"""The users of deploy/nats/services.conf on a real nats-server: each may say and hear what the table says alone."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from fairway.adapters.rights.bus_rights import (
    CREDENTIALS,
    OPERATOR,
    SERVICES,
    SETUP,
    inbox,
    may_hear,
    may_publish,
    rights,
)
from fairway.adapters.rights.nats_users import services_conf
from fairway.lab.processes.embedded_servers import nats_server
from fairway.lab.processes.server import connection
from fairway.wire import subjects
from fairway.wire.flow import CONSUMERS, FLOW, consumer
from fairway.wire.subjects import KEEPER
from tests.paths import ROOT

CONF = ROOT / "deploy/nats/services.conf"
_REFUSED = re.compile(rb"-ERR 'Permissions Violation for (Publish|Subscription) to \"([^\"]+)\"")
_STREAM_CALLS = ("CREATE", "UPDATE", "DELETE", "PURGE", "INFO", "MSG.GET", "MSG.DELETE", "SNAPSHOT", "RESTORE")
_CONSUMER_CALLS = ("CREATE", "DURABLE.CREATE", "DELETE", "INFO", "MSG.NEXT", "PAUSE", "LEADER.STEPDOWN", "UNPIN")
STREAMS = [one.name for one in subjects.STREAMS]
DURABLES = [consumer(one.name)[:2] for one in CONSUMERS]


def _flow() -> list[str]:
    """Every subject of the table, of a tenant, a cluster and so on, and for each service that may say it."""
    named = [re.sub(r"\{service\}", name, row.subject) for row in FLOW for name in SERVICES]
    return [re.sub(r"\{\w+\}", "some", one) for one in dict.fromkeys(named)]


def _jetstream() -> list[str]:
    calls = ["$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$JS.API.META.LEADER.STEPDOWN"]
    for stream in STREAMS:
        calls += [f"$JS.API.STREAM.{verb}.{stream}" for verb in _STREAM_CALLS]
        calls += [f"$JS.API.CONSUMER.{verb}.{stream}" for verb in ("CREATE", "NAMES", "LIST")]
        calls += [f"$JS.API.CONSUMER.{verb}.{stream}.of-somebody" for verb in _CONSUMER_CALLS]
        calls += [f"$JS.API.DIRECT.GET.{stream}", f"$JS.API.DIRECT.GET.{stream}.fairway.job.queue.some"]
    for stream, name in DURABLES:
        calls += [f"$JS.API.CONSUMER.{verb}.{stream}.{name}" for verb in _CONSUMER_CALLS]
        calls += [f"$JS.API.CONSUMER.CREATE.{stream}.{name}.fairway.job.queue.some"]
        calls += [f"$JS.ACK.{stream}.{name}.1.1.1.1.0", f"$JS.ACK.hub.account.{stream}.{name}.1.1.1.1.0.rest"]
    return calls


MEMBERS = [f"fairway.member.some.{rest}" for rest in ("ask", "at.one", "reply.one.2")]
INBOXES = [f"{inbox(one)}.some" for one in CREDENTIALS]
OTHERS = ["fairway.in.some.submit", "fairway.config.Cluster.~.some", "fairway.config.ElasticQuotaTree.a.b", "elsewhere"]
SUBJECTS = tuple(
    dict.fromkeys((*_flow(), *_jetstream(), *MEMBERS, *INBOXES, *OTHERS, "$SYS.REQ.USER.INFO", "$SYS.REQ.SERVER.PING"))
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    users = re.sub(r"\$\w+_PASSWORD", "secret", CONF.read_text())
    account = f"accounts {{ FAIRWAY {{ jetstream: enabled\n{users} }} }}\n"
    async with await nats_server(Path(tmp_path_factory.mktemp("nats")), more=account) as server:
        yield server.url


async def refused(url: str, user: str, lines: list[bytes]) -> set[str]:
    """The subjects that the server refuses of these commands, by what it answers."""
    async with connection(urlsplit(url).port or 0) as (reader, writer):
        await reader.readline()
        login = json.dumps({"verbose": False, "user": user, "pass": "secret", "headers": True})
        writer.write(f"CONNECT {login}\r\n".encode() + b"".join(lines) + b"PING\r\n")
        found = set[str]()
        while (line := (await reader.readline()).strip()) != b"PONG":
            assert line, "the server has closed the connection"
            if wrong := _REFUSED.match(line):
                found.add(wrong[2].decode())
            else:
                assert not line.startswith(b"-ERR"), line
        return found


def test_the_file_is_what_the_table_makes() -> None:
    assert CONF.read_text() == services_conf(), "make schemas"


@pytest.mark.parametrize("user", CREDENTIALS)
@pytest.mark.asyncio(loop_scope="module")
async def test_what_it_may_say(url: str, user: str) -> None:
    said = [f"PUB {one} 0\r\n\r\n".encode() for one in SUBJECTS]
    of = rights(user)
    assert await refused(url, user, said) == {one for one in SUBJECTS if not may_publish(of, one)}


@pytest.mark.parametrize("user", CREDENTIALS)
@pytest.mark.asyncio(loop_scope="module")
async def test_what_it_may_hear(url: str, user: str) -> None:
    heard = [
        f"SUB {one} {number}\r\n".encode() for number, one in enumerate((*SUBJECTS, ">", "fairway.>", "_INBOX.>"), 1)
    ]
    of = rights(user)
    wanted = {one for one in SUBJECTS if not may_hear(of, one)} | {">", "fairway.>", "_INBOX.>"}
    assert await refused(url, user, heard) == wanted


def may(user: str, subject: str) -> bool:
    return may_publish(rights(user), subject)


@pytest.mark.parametrize("user", SERVICES)
def test_no_service_changes_a_stream_or_a_consumer_or_deletes_anything_but_the_keeper(user: str) -> None:
    calls = [
        one for one in _jetstream() if re.search(r"UPDATE|DELETE|PURGE|RESTORE|SNAPSHOT|DURABLE|PAUSE|STEPDOWN", one)
    ]
    own = ["$JS.API.STREAM.MSG.DELETE.JOBS"] if user == KEEPER else []
    assert calls and [one for one in calls if may(user, one)] == own
    named = [f"$JS.API.CONSUMER.CREATE.{stream}.{name}" for stream in STREAMS for name in ("some", "queue")]
    assert not [one for one in named if may(user, one)]


@pytest.mark.parametrize("user", CREDENTIALS)
def test_nobody_takes_what_is_for_anothers_consumer(user: str) -> None:
    for one in CONSUMERS:
        stream, name, _ = consumer(one.name)
        calls = [f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{name}", f"$JS.ACK.{stream}.{name}.1.1.1.1.0"]
        assert [may(user, call) for call in calls] == [one.service == user] * 2


def test_some_rights_in_words() -> None:
    """By hand: the table could be wrong."""
    assert [user for user in CREDENTIALS if may(user, "fairway.job.succeeded.team-a")] == ["watcher", OPERATOR]
    assert [user for user in CREDENTIALS if may(user, "fairway.job.placed.team-a")] == ["global-scheduler", OPERATOR]
    assert [user for user in CREDENTIALS if may(user, "fairway.found.global-scheduler")] == ["global-scheduler"]
    assert [user for user in CREDENTIALS if may(user, "$JS.API.DIRECT.GET.FOUND")] == ["gateway", OPERATOR]
    assert [user for user in CREDENTIALS if may(user, "fairway.config.ElasticQuotaTree.a.b")] == ["hub", "gateway"]
    assert [user for user in CREDENTIALS if may(user, "fairway.member.north.at.one")] == [
        "propagator",
        "watcher",
        "agent",
    ]
    assert [user for user in CREDENTIALS if may(user, "$JS.API.STREAM.UPDATE.JOBS")] == [SETUP]
    assert [user for user in CREDENTIALS if may(user, "$JS.API.STREAM.MSG.DELETE.DLQ")] == [OPERATOR]
    assert [user for user in CREDENTIALS if may(user, "$JS.API.STREAM.MSG.DELETE.JOBS")] == [KEEPER]
    assert [user for user in CREDENTIALS if may(user, "fairway.job.manifests_removed.team-a")] == [KEEPER, OPERATOR]
    of_keeper = [one for one in SUBJECTS if one.startswith("fairway.") and may(KEEPER, one)]
    assert of_keeper == ["fairway.job.manifests_removed.some"]
    assert [user for user in CREDENTIALS if may(user, "fairway.in.team-a.submit")] == []
