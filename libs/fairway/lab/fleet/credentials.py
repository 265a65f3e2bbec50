"""Credentials of an embedded fleet: each process comes to NATS and Valkey with the rights of its services alone."""

import asyncio
import os
import secrets
import signal
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import structs
from redis.asyncio import Redis

from fairway.adapters.logins import Login, LoginFile
from fairway.adapters.rights.bus_rights import SETUP
from fairway.adapters.rights.valkey_users import hashed
from fairway.lab.processes.embedded_servers import EmbeddedServer
from fairway.lab.processes.server import connection
from fairway.operate.setup import credentials
from fairway.process.servers.streams import set_up
from fairway.process.settings import Settings
from fairway.wire.subjects import OPERATOR

# Who looks into the servers from outside, as the demo, the benchmarks and the tests do. Nobody serves under it.
LAB = "lab"
_LOOK_S = 0.05
_PATIENCE_S = 10.0


class FleetCredentials:
    """`folder` has the files of both servers and one folder for each process."""

    def __init__(self, folder: Path, groups: Sequence[Sequence[str]]) -> None:
        self.folder = folder.resolve()
        self._lab = secrets.token_urlsafe(32)
        self._users = {user_of(group): tuple(group) for group in groups}
        self._of: dict[str, str] = {}
        self._write()

    def _write(self, renew: Sequence[str] = ()) -> None:
        everything = f'  {{ user: "{LAB}", password: "{self._lab}" }}\n'
        anything = f"user {LAB} on #{hashed(self._lab)} ~* &* +@all\n"
        credentials.write(self.folder, self._users, renew, (everything, anything))

    @property
    def login(self) -> str:
        """The lab's, for both servers."""
        return f"{LAB}:{self._lab}"

    @property
    def valkey_users(self) -> Path:
        return self.folder / "valkey" / "users.acl"

    @property
    def nats_users(self) -> Path:
        return self.folder / "nats" / "services.conf"

    def folder_of(self, process: str) -> Path:
        """Of the credentials of a process that was admitted, or else the operator's."""
        return self.folder / self._of.get(process, OPERATOR)

    async def admit(
        self, process: str, group: Sequence[str], nats: Sequence[EmbeddedServer], stores: Sequence[EmbeddedServer]
    ) -> None:
        """Has the servers know a process with these services, if they do not yet."""
        self._of[process] = user_of(group)
        if user_of(group) in self._users:
            return
        self._users[user_of(group)] = tuple(group)
        self._write()
        await self._read_anew(nats, stores)
        await self._until_known(process, nats)

    async def renew(self, process: str, nats: Sequence[EmbeddedServer], stores: Sequence[EmbeddedServer]) -> None:
        """A new password for the user of a process, which goes on running."""
        self._write([self._of[process]])
        await self._read_anew(nats, stores)

    async def _read_anew(self, nats: Sequence[EmbeddedServer], stores: Sequence[EmbeddedServer]) -> None:
        for server in nats:
            os.kill(server.pid, signal.SIGHUP)
        for store in stores:
            async with Redis.from_url(store.url) as admin:
                await admin.acl_load()

    async def _until_known(self, process: str, nats: Sequence[EmbeddedServer]) -> None:
        login = LoginFile(self.folder_of(process) / "nats").last
        for server in nats:
            async with asyncio.timeout(_PATIENCE_S):
                while not await lets_in(server, login):
                    await asyncio.sleep(_LOOK_S)

    async def set_up(self, settings: Settings) -> None:
        """The streams and their consumers, as `fairway setup` makes them."""
        await set_up(structs.replace(settings, credentials_dir=str(self.folder / SETUP)))


async def lets_in(server: EmbeddedServer, login: Login) -> bool:
    """Whether a server of NATS knows this user by this password."""
    words = msgspec.json.encode({"verbose": False, "user": login.user, "pass": login.password})
    async with connection(server.port) as (reader, writer):
        await reader.readline()
        writer.write(b"CONNECT %b\r\nPING\r\n" % words)
        return (await reader.readline()).startswith(b"PONG")


def user_of(group: Sequence[str]) -> str:
    """The name of the user for a process with these services."""
    if len(group) == 1:
        return group[0]
    services = ",".join(sorted(group))
    return f"{len(group)}-services-{blake2b(services.encode(), digest_size=4).hexdigest()}"
