"""The users of deploy/valkey/users.acl on a real Valkey: each has the commands of the table, on keys of the fleet."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError
from structlog.testing import capture_logs

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.rights.valkey_users import CREDENTIALS, HEALTH, commands, hashed, users_acl
from fairway.adapters.system_clock import SystemClock
from fairway.adapters.valkey.store import RedisStore
from fairway.domain.decision import Add, Put, Step
from fairway.lab.processes.embedded_servers import valkey_server
from fairway.runtime.lease import StoreAndLease
from fairway.runtime.ports import Commit, Wanted, World
from fairway.wire.subjects import GATEWAY, LOOPS, OPERATOR
from tests.paths import ROOT

ACL = ROOT / "deploy/valkey/users.acl"
# Who may do all of it here, to ask the server what others may.
ADMIN = "user admin on nopass ~* &* +@all\n"
# Whoever has a connection may end it, or begin anew.
NOBODY_IS_ASKED = ("quit", "reset")
Server = tuple[Redis, str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    folder = Path(tmp_path_factory.mktemp("valkey"))
    users = folder / "users.acl"
    users.write_text(re.sub(r"\$\w+_SHA256", hashed("secret"), ACL.read_text()) + ADMIN)
    async with await valkey_server(folder, users=users) as running:
        at = urlsplit(running.url)
        admin = Redis(host="127.0.0.1", port=at.port or 0, username="admin", password="any")
        yield admin, f"127.0.0.1:{at.port}/0"
        await admin.aclose()


def store(where: str, user: str, password: str = "secret") -> RedisStore:
    return RedisStore(f"redis://{user}:{password}@{where}")


def test_the_file_is_what_the_table_makes() -> None:
    assert ACL.read_text() == users_acl(), "make schemas"


async def every_command(admin: Redis) -> dict[str, int]:
    """With how many words it is called at least; a subcommand as `config|set`."""
    found: dict[str, int] = {}
    admin.response_callbacks.pop("COMMAND INFO", None)
    waiting = list(await admin.execute_command("COMMAND INFO"))
    for name, arity, *_, subcommands in waiting:
        waiting += subcommands
        if not subcommands:
            found[name.decode()] = abs(arity)
    return found


async def may(admin: Redis, user: str, command: str, words: int) -> bool:
    """By the server's own word, of keys of the fleet."""
    named = command.split("|")
    numbered = ("1" if command.startswith(("eval", "fcall")) else "{fairway}:key" for _ in range(words - len(named)))
    try:
        said = await admin.execute_command("ACL", "DRYRUN", user, *named, *numbered)
    except ResponseError as error:
        raise AssertionError(f"{command}: {error}") from error
    return bool(said == b"OK")


@pytest.mark.parametrize("user", CREDENTIALS)
@pytest.mark.asyncio(loop_scope="module")
async def test_which_commands_it_has(server: Server, user: str) -> None:
    admin, _ = server
    found = {name for name, words in (await every_command(admin)).items() if await may(admin, user, name, words)}
    assert found == {*commands(user), *NOBODY_IS_ASKED}


@pytest.mark.parametrize("user", CREDENTIALS)
@pytest.mark.asyncio(loop_scope="module")
async def test_it_has_the_fleets_keys_alone(server: Server, user: str) -> None:
    admin, _ = server
    for key, allowed in (("{fairway}:epoch", True), ("{other}:epoch", False), ("fairway", False)):
        said = await admin.execute_command("ACL", "DRYRUN", user, "GET", key)
        assert (said == b"OK") is allowed, said


@pytest.mark.parametrize("service", LOOPS)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_service_does_its_work(server: Server, service: str) -> None:
    one = store(server[1], service)
    try:
        await one.begin_rebuild(service, 60_000)
        await one.load("jobs", {"a": (1, b"{}")})
        await one.load_counters("quota", {"root": 1})
        await one.finish_rebuild(f"1-{service}")
        token = await one.lease(service, "me", 60_000)
        step = Step((Put("jobs", "b", 1), Add("quota", "root", 1)))
        assert await one.commit(Commit((step,), payloads=(b"said",), outbox="o", lease=service, token=token)) == [True]
        asked = Wanted(rows={"jobs": ["a", "b"]}, whole=("quota",), since=0, lease=service, token=token)
        found = await one.read(asked)
        assert {key for _, key in found.rows} == {"a", "b"} and found.counters["quota"] == {"root": 2}
        assert (await one.keys("jobs", "", 5), await one.size("jobs")) == (["a", "b"], 2)
        assert "jobs" in await one.tables() and len(await one.table("jobs")) == 2
        assert await one.void()
    finally:
        await one.close()


@pytest.mark.asyncio(loop_scope="module")
async def test_the_door_reads_and_writes_nothing(server: Server) -> None:
    service = store(server[1], "queue")
    door = store(server[1], GATEWAY)
    try:
        await service.begin_rebuild("queue", 60_000)
        await service.finish_rebuild("2-queue")
        assert await door.open()
        assert not (await door.read(Wanted(rows={"jobs": ["none"]}))).rows
        with pytest.raises(ResponseError):
            await door.commit(Commit((Step((Put("jobs", "b", 1),)),)))
        with pytest.raises(ResponseError):
            await door.void()
        operator = store(server[1], OPERATOR)
        assert await operator.open() and await operator.void()
        await operator.close()
    finally:
        await service.close()
        await door.close()


@pytest.mark.asyncio(loop_scope="module")
async def test_nobody_else_is_let_in(server: Server) -> None:
    host, _, port = server[1].partition("/")[0].partition(":")
    for user, password in ((None, None), ("default", "any"), ("queue", "other"), ("agent", "secret")):
        client = Redis(host=host, port=int(port), username=user, password=password)
        with pytest.raises(AuthenticationError):
            await client.get("{fairway}:epoch")
        await client.aclose()
    health = Redis(host=host, port=int(port), username=HEALTH, password="any")
    assert await health.ping()
    with pytest.raises(NoPermissionError):
        await health.get("{fairway}:epoch")
    await health.aclose()


class CountedStore(RedisStore):
    tries = 0

    async def open(self) -> bool:
        self.tries += 1
        return await super().open()


@pytest.mark.asyncio(loop_scope="module")
async def test_who_waits_to_be_let_in_says_so_once_and_not_at_every_try(server: Server) -> None:
    not_let_in = CountedStore(f"redis://queue:other@{server[1]}")
    world = World(bus=MemoryBus(SystemClock()), store=not_let_in, clock=SystemClock(), owner="o", pace=0.01)
    queue: Any = SimpleNamespace(name="queue", single=False)
    with capture_logs() as lines:
        waiting = asyncio.create_task(StoreAndLease(queue, world).open(nobody_stands_by))
        async with asyncio.timeout(20):
            while not_let_in.tries < 5:
                await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.wait((waiting,))
    await not_let_in.close()
    (line,) = lines
    assert (line["event"], line["service"]) == ("waiting", "queue")
    assert re.match(r"Valkey lets nobody in by this credential: .*; FAIRWAY_CREDENTIALS_DIR, or FAIRWAY", line["cause"])


async def nobody_stands_by() -> None: ...
