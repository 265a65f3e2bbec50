"""The credentials of a process: the files of FAIRWAY_CREDENTIALS_DIR, used anew when they change."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import structlog
from msgspec import Struct

from fairway.adapters.logins import LoginFile
from fairway.process.settings import Settings

log = structlog.get_logger()
Again = Callable[[], Awaitable[None]]


class Logins(Struct, frozen=True):
    """None: the address says it, or nobody is asked. Not every process comes to Valkey."""

    nats: LoginFile | None = None
    valkey: LoginFile | None = None


def logins(settings: Settings) -> Logins:
    """ValueError says what is wrong with a file."""
    if not settings.credentials_dir:
        return Logins()
    folder = Path(settings.credentials_dir)
    valkey = folder / "valkey"
    return Logins(LoginFile(folder / "nats"), LoginFile(valkey) if valkey.exists() else None)


async def follow(login: LoginFile, connections: Callable[[], Sequence[Again]]) -> None:
    """Has `connections` log in again whenever the file says something else."""
    known = login.last
    while True:
        known = await login.changed(known)
        log.info("credential changed", file=str(login.path), user=known.user)
        await asyncio.gather(*(again() for again in connections()))
