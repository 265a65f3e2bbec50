"""The streams of the bus and their consumers, made before anything is said; NATS is waited for."""

import asyncio
from collections.abc import Sequence

import msgspec
import structlog
from nats.js.errors import APIError

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.provisioning import NO_ROOM
from fairway.adapters.nats.server_addresses import let_in
from fairway.process.servers.logins import logins
from fairway.process.settings import Settings
from fairway.wire.subjects import RECORD, VIEWS_STREAM, Stream

log = structlog.get_logger()
# NATS: it has too few servers for the copies.
_NO_PEERS = 10005


async def set_up(settings: Settings) -> list[str]:
    """What `fairway setup` does; the names of the streams that are there then. Waits for NATS. NotLetIn when that does
    not take the credential; ValueError says what is wrong with the file of that."""
    login = logins(settings).nats
    await let_in(settings.nats_url, login)
    bus = await NatsBus.connect(settings.nats_url, "fairway-setup", login=login)
    try:
        await provisioned(bus, settings.replicas)
        if settings.views_mib:
            await views_provisioned(bus, settings)
        wanted = (*RECORD, VIEWS_STREAM) if settings.views_mib else RECORD
        return sorted({one.name for one in wanted} - {*await bus.missing(wanted)})
    finally:
        await bus.close()


async def made(bus: NatsBus, views: bool) -> bool:
    """Waits for the streams that `fairway setup` makes. Whether there is one for views, if they are wanted."""
    told = False
    while True:
        try:
            lacking = await bus.missing(RECORD)
            if not lacking:
                return views and not await _no_views(bus)
            if not told:
                remedy = "run `fairway setup` of this version against this NATS"
                log.warning("waiting", service="bus", cause=f"NATS has no stream {', '.join(lacking)}", remedy=remedy)
            told = True
        except Exception as error:
            if not _passing(error):
                raise
        await asyncio.sleep(0.2)


async def _no_views(bus: NatsBus) -> bool:
    lacking = bool(await bus.missing((VIEWS_STREAM,)))
    if lacking:
        cause = "NATS has no stream VIEWS"
        remedy = "run `fairway setup` with FAIRWAY_VIEWS_MIB as large as NATS has room, or set it to 0 here"
        log.warning("decisions cannot be replayed", cause=cause, remedy=remedy)
    return lacking


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
    """NATS sets the room for them aside. Where there is none services work without: a replay says what is missing."""
    age = settings.views_days * 86_400
    size = settings.views_mib << 20
    stream = msgspec.structs.replace(VIEWS_STREAM, max_age=age, max_bytes=size)
    try:
        await provisioned(bus, settings.replicas, (stream,))
    except APIError as error:
        log.warning("no stream for views: decisions cannot be replayed", cause=str(error), setting="FAIRWAY_VIEWS_MIB")
