"""The streams of the bus, made before anything is said; NATS is waited for."""

import asyncio
from collections.abc import Sequence

import msgspec
import nats.errors
import structlog
from nats.js.errors import APIError

from fairway.adapters.nats_bus import NatsBus
from fairway.app.settings import Settings
from fairway.wire.subjects import RECORD, VIEWS_STREAM, Stream

log = structlog.get_logger()
# NATS: the bytes of a stream are more than it has left to promise; it has too few servers for the copies.
_NO_ROOM, _NO_PEERS = 10047, 10005
# "invalid JSON", which a strict server says of a field that it does not know.
_INVALID = b'"err_code":10025'
_ASK_S = 5.0


async def provisioned(bus: NatsBus, replicas: int, streams: Sequence[Stream] = RECORD) -> None:
    while True:
        try:
            return await bus.provision(streams, replicas)
        except (TimeoutError, OSError):
            await asyncio.sleep(0.2)
        except Exception as error:
            if not _passing(error):
                raise
            await asyncio.sleep(0.2)


def _passing(error: Exception) -> bool:
    """The bus is starting, or has no leader at the moment, or not all its servers know each other yet."""
    code = getattr(error, "err_code", 0)
    if code == _NO_ROOM:
        return False
    if code == _NO_PEERS:
        return "insufficient" not in str(error)  # storage: that does not pass
    return "unavailable" in str(error).lower() or "timeout" in type(error).__name__.lower()


async def views_provisioned(bus: NatsBus, settings: Settings) -> None:
    """NATS sets the room for them aside. Where there is none, work goes on without: a replay says what is missing."""
    age, size = settings.views_days * 86_400, settings.views_mib << 20
    stream = msgspec.structs.replace(VIEWS_STREAM, max_age=age, max_bytes=size)
    try:
        await provisioned(bus, settings.replicas, (stream,))
    except APIError as error:
        log.warning("no stream for views: decisions cannot be replayed", cause=str(error), setting="FAIRWAY_VIEWS_MIB")


async def lax(bus: NatsBus) -> bool:
    """Whether any JSON object that somebody has sent to where JetStream is asked counts as a question, an
    acknowledgement of another message for one. Says so in the log. A server that does not answer is not called lax."""
    try:
        said = await bus.client.request("$JS.API.STREAM.NAMES", b'{"fairway_unknown":1}', timeout=_ASK_S)
    except (nats.errors.Error, TimeoutError):
        return False
    if _INVALID in said.data:
        return False
    log.warning(
        "JetStream is not strict",
        cause="it takes requests with fields that it does not know, so another message can pass for one",
        remedy="NATS 2.12 or newer, or `strict: true` in its block jetstream",
    )
    return True
