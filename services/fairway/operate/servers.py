"""NATS and Valkey for an operator's command: where the environment says, else those of the fleet of this folder."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import nats.errors

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.server_addresses import NotLetIn, addresses, let_in
from fairway.adapters.valkey.store import RedisStore
from fairway.client.credential import facts_of_folder
from fairway.client.failure import UNREACHABLE, USAGE, Failure
from fairway.process.servers.logins import Logins, logins
from fairway.process.settings import Settings, from_environment
from fairway.runtime.ports import Unreachable

# A service waits for its servers; who types a command does not.
_SECONDS = 5.0


def settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Failure when the environment, or the file of the fleet, cannot be read."""
    of_folder = {name: value for name, value in facts_of_folder().items() if name.startswith("FAIRWAY_")}
    try:
        return from_environment({**of_folder, **environment})
    except ValueError as error:
        raise Failure(USAGE, str(error)) from None


def shown(url: str) -> str:
    """One address, or several with commas, without their passwords."""
    parts = map(urlsplit, addresses(url))
    return ",".join(one._replace(netloc=one.netloc.rpartition("@")[2]).geturl() for one in parts)


@asynccontextmanager
async def bus(of: Settings) -> AsyncIterator[NatsBus]:
    """Failure when NATS does not answer, at the beginning or later."""
    where = f"NATS at {shown(of.nats_url)}"
    login = _logins(of).nats
    try:
        async with asyncio.timeout(_SECONDS):
            await let_in(of.nats_url, login)
            opened = await NatsBus.connect(of.nats_url, "fairway-operator", login=login)
    except NotLetIn as error:
        raise Failure(UNREACHABLE, f"{where}: {error}") from None
    except (nats.errors.Error, OSError, ValueError) as error:
        cause = f"does not answer within {_SECONDS:g} s" if isinstance(error, TimeoutError) else f"refuses: {error}"
        raise Failure(UNREACHABLE, f"{where} {cause}", "start it, or set FAIRWAY_NATS_URL") from None
    try:
        yield opened
    except Unreachable as error:
        raise Failure(UNREACHABLE, f"{where}: {error}", "is a fleet running on it?") from error
    finally:
        await opened.close()


def _logins(of: Settings) -> Logins:
    """Failure when the file of a credential cannot be read."""
    try:
        return logins(of)
    except ValueError as error:
        raise Failure(USAGE, str(error)) from None


@asynccontextmanager
async def store(of: Settings) -> AsyncIterator[RedisStore]:
    """Failure when Valkey does not answer, at the beginning or later."""
    opened = RedisStore(of.redis_url, login=_logins(of).valkey)
    try:
        yield opened
    except Unreachable as error:
        where = f"Valkey at {shown(of.redis_url)}"
        raise Failure(UNREACHABLE, f"{where}: {error}", "start it, or set FAIRWAY_REDIS_URL") from error
    finally:
        await opened.close()
