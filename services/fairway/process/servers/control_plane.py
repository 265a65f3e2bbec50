"""FastStream's connection to NATS: it keeps the life of the process, and answers what is asked of it."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from faststream.nats import NatsBroker
from faststream.nats.security import NatsUserPassword

from fairway.adapters.nats.connection import leave
from fairway.adapters.nats.server_addresses import Complaints, addresses, inbox_of
from fairway.process.servers.logins import logins
from fairway.process.settings import Settings


class ControlPlane(NatsBroker):
    """Closes its connection when the process ends. FastStream would drain it, which raises while NATS is away and waits
    for many seconds where it does not answer; who asks something here asks again when it hears nothing."""

    async def stop(self, *how: Any) -> None:
        client = self._connection
        self._connection = None
        await super().stop(*how)
        if client is not None:
            await leave(client)


def control_plane(settings: Settings, closed: Callable[[], Awaitable[None]]) -> NatsBroker:
    """`closed` is told when the connection is closed for good. ValueError says what is wrong with the file of its
    credential."""
    login = logins(settings).nats
    # nats-py calls what it is given whenever it connects; FastStream hands it on.
    security = NatsUserPassword(cast(str, login.user), cast(str, login.password)) if login is not None else None
    return ControlPlane(
        addresses(settings.nats_url),
        security=security,
        inbox_prefix=inbox_of(settings.nats_url, login),
        error_cb=Complaints().hear,
        closed_cb=closed,
        max_reconnect_attempts=-1,
        reconnect_time_wait=1,
        logger=None,
    )


async def log_in_again(broker: NatsBroker) -> None:
    """With what the login says now."""
    client = await broker.connect()
    await client.force_reconnect()
