"""What can be told of a NATS that keeps tenants and members less apart than it should: it is said in the log, once."""

import asyncio
from typing import TypeVar

import msgspec
import nats.errors
import structlog
from msgspec import Struct, field

from fairway.adapters.nats.bus import NatsBus

_Said = TypeVar("_Said")
log = structlog.get_logger()
_ASK_S = 5.0
# "invalid JSON", which a strict server says of a field that it does not know.
_INVALID = 10025
# The account of all users that are given none. Nothing can be exported from it.
_EVERYBODYS = "$G"


class _Error(Struct):
    err_code: int = 0


class _Names(Struct):
    error: _Error | None = None


class _User(Struct):
    user: str = ""
    account: str = ""


class _Info(Struct):
    data: _User = field(default_factory=_User)


async def told_of_doubts(bus: NatsBus) -> None:
    await asyncio.gather(_strict(bus), _apart(bus))


async def _strict(bus: NatsBus) -> None:
    said = await _answer(bus, "$JS.API.STREAM.NAMES", b'{"fairway_unknown":1}', _Names)
    if said is None or (said.error is not None and said.error.err_code == _INVALID):
        return
    log.warning(
        "JetStream is not strict",
        cause="it takes requests with fields that it does not know, so another message can pass for one",
        remedy="NATS 2.12 or newer, or `strict: true` in its block jetstream",
    )


async def _apart(bus: NatsBus) -> None:
    """Where nobody is asked for a user, everybody is the services anyhow."""
    said = await _answer(bus, "$SYS.REQ.USER.INFO", b"", _Info)
    if said is None or not said.data.user or said.data.account != _EVERYBODYS:
        return
    log.warning(
        "the services share their account of NATS with all its users",
        cause="a user that may publish in a stream has it acknowledged on any subject of its account, settings too",
        remedy="accounts, as in deploy/nats/members.conf, unless the services are the only user",
    )


async def _answer(bus: NatsBus, subject: str, data: bytes, kind: type[_Said]) -> _Said | None:
    """None where nobody answers, or not in these words: then there is nothing to tell."""
    try:
        said = await bus.client.request(subject, data, timeout=_ASK_S)
        return msgspec.json.decode(said.data, type=kind)
    except (nats.errors.Error, TimeoutError, msgspec.DecodeError):
        return None
