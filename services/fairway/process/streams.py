"""The streams of the bus, made before anything is said; NATS is waited for."""

import asyncio
from collections.abc import Sequence

import msgspec
import structlog
from nats.js.errors import APIError

from fairway.adapters.nats.bus import NO_ROOM, NatsBus
from fairway.process.settings import Settings
from fairway.wire.subjects import RECORD, VIEWS_STREAM, Stream

log = structlog.get_logger()
# NATS: it has too few servers for the copies.
_NO_PEERS = 10005


async def provisioned(bus: NatsBus, replicas: int, streams: Sequence[Stream] = RECORD) -> None:
    while True:
        try:
            return await bus.provision(streams, replicas)
        except Exception as error:
            if not _passing(error):
                raise
        await asyncio.sleep(0.2)


def _passing(error: Exception) -> bool:
    """The bus is starting, or has no leader at the moment, or not all its servers know each other yet."""
    if isinstance(error, TimeoutError | OSError):
        return True
    code = getattr(error, "err_code", 0)
    if code == NO_ROOM:
        return False
    if code == _NO_PEERS:
        return "insufficient" not in str(error)  # storage: that does not pass
    return "unavailable" in str(error).lower() or "timeout" in type(error).__name__.lower()


async def views_provisioned(bus: NatsBus, settings: Settings) -> None:
    """NATS sets the room for them aside. Where there is none, work goes on without: a replay says what is missing."""
    age = settings.views_days * 86_400
    size = settings.views_mib << 20
    stream = msgspec.structs.replace(VIEWS_STREAM, max_age=age, max_bytes=size)
    try:
        await provisioned(bus, settings.replicas, (stream,))
    except APIError as error:
        log.warning("no stream for views: decisions cannot be replayed", cause=str(error), setting="FAIRWAY_VIEWS_MIB")
