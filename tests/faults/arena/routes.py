"""Three NATS servers that reach each other, as everybody reaches them, through links."""

import asyncio
from itertools import permutations
from pathlib import Path

import nats
import nats.errors

from fairway.lab.processes.embedded_servers import EmbeddedServer, account, nats_server
from fairway.lab.processes.server import free_ports
from tests.faults.arena.links import Link

# Servers tell each other where they are, so that they find a way around a link. Nobody listens there.
_NOWHERE = "127.0.0.1:1"
# It takes five; a busy machine may be slower.
_WHOLE_S = 60.0


class Routes:
    """`servers` are numbered; there are links from each of them to each other one."""

    def __init__(self, dir: Path, servers: int) -> None:
        self._dir = dir
        self._ports = free_ports(servers)
        self.servers: list[EmbeddedServer] = []
        self._links = {pair: Link(self._ports[pair[1]]) for pair in permutations(range(servers), 2)}

    async def start(self, sync_interval: str, users: Path, login: str) -> None:
        """They let in whom the file `users` names, and `login` with all rights."""
        for link in self._links.values():
            await link.open()
        for number, port in enumerate(self._ports):
            others = (link.port for (begin, _), link in self._links.items() if begin == number)
            routes = ", ".join(f'"nats://127.0.0.1:{other}"' for other in others)
            # Clients are not told of the others: they know the links to all of them.
            more = (
                f'cluster {{ name: fairway, listen: "127.0.0.1:{port}", advertise: "{_NOWHERE}", no_advertise: true, '
                f"routes: [{routes}] }}\n"
            )
            home = self._dir / str(number)
            server = await nats_server(home, sync_interval=sync_interval, more=more + account(users, home))
            server.login = login
            self.servers.append(server)
        async with asyncio.timeout(_WHOLE_S):
            await self._whole()

    async def _whole(self) -> None:
        """Every server knows all others: a stream can be on each of them."""
        client = await nats.connect(self.servers[0].url)
        js = client.jetstream()
        while True:
            try:
                await js.add_stream(name="WHOLE", subjects=["whole"], num_replicas=len(self.servers))
                break
            except (nats.errors.Error, TimeoutError):
                await asyncio.sleep(0.2)
        await js.delete_stream("WHOLE")
        await client.close()

    def between(self, server: EmbeddedServer) -> list[Link]:
        """Those from this server to the others, and from them to it."""
        number = self.servers.index(server)
        return [link for pair, link in self._links.items() if number in pair]

    async def stop(self) -> None:
        for server in self.servers:
            await server.stop()
        for link in self._links.values():
            await link.close()
