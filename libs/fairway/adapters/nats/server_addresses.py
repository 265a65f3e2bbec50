"""Where the servers of NATS are, who comes to them, and what they complain of."""

import asyncio
import contextlib
import ssl
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import nats.errors
import structlog
from nats.aio.client import Client

from fairway.adapters.logins import LoginFile, refused
from fairway.adapters.nats.headers import NOT_ALLOWED
from fairway.adapters.rights.bus_rights import inbox
from fairway.runtime.retry import SeldomLog
from fairway.wire import subjects

log = structlog.get_logger()
_EVERYBODYS = "_INBOX"
_TRY_S = 0.2
# What a server says to whom it does not know.
_TURNED_OUT = ("authorization", "authentication", "revoked")
# What is heard where something else than NATS answers, or not in the clear.
_NOT_THERE = ("tls", "empty response", "json parse")


def addresses(url: str) -> list[str]:
    """Of the servers of a cluster, any of which may be down when a client comes."""
    return [one.strip() for one in url.split(",") if one.strip()]


def inbox_of(url: str, login: LoginFile | None) -> str:
    """Below it come answers to this user alone. Without a user, or where its name is no token, it is everybody's."""
    user = login.last.user if login is not None else urlsplit(addresses(url)[0]).username or ""
    return inbox(user) if user and subjects.token(user) == user else _EVERYBODYS


class Complaint(NamedTuple):
    """`lasting`: it does not pass by itself."""

    event: str
    cause: str
    remedy: str
    lasting: bool = False


class NotLetIn(Exception):
    """The words of a complaint that does not pass by itself."""


class Complaints:
    """What the server of one connection complains of, and why it is not reached. The library's default prints each
    error."""

    def __init__(self) -> None:
        self._lines = SeldomLog()  # who is turned out tries again several times a second

    async def hear(self, error: Exception) -> None:
        if NOT_ALLOWED in str(error).lower():
            refused("NATS", _text(error))
        elif (one := _complaint(error)) is not None:
            self.tell(one)

    def tell(self, one: Complaint) -> None:
        self._lines.tell(log.error if one.lasting else log.warning, one.event, one.cause, remedy=one.remedy)


def _text(error: Exception) -> str:
    return str(error).removeprefix("nats: ") or "it does not answer in time"


def _complaint(error: Exception) -> Complaint | None:
    """None for what is said on a connection that goes on."""
    text = _text(error)
    if any(word in text.lower() for word in _TURNED_OUT):
        remedy = "FAIRWAY_CREDENTIALS_DIR, or FAIRWAY_NATS_URL, has to hold a user and a password that the server knows"
        return Complaint("NATS lets nobody in by this credential", text, remedy, lasting=True)
    if isinstance(error, ssl.SSLError):
        remedy = "SSL_CERT_FILE has to name the CA of its certificate, and FAIRWAY_NATS_URL a host that stands in it"
        return Complaint("NATS is not trusted", text, remedy, lasting=True)
    if isinstance(error, OSError) or any(word in text.lower() for word in _NOT_THERE):
        remedy = "start it, or set FAIRWAY_NATS_URL, which begins with tls:// where NATS asks for TLS"
        return Complaint("NATS is not reached", text, remedy)
    return None


async def let_in(url: str, login: LoginFile | None) -> None:
    """Waits until there is a server, and says why there is none. NotLetIn when it does not know this user, or is not
    trusted: a service waits until that is mended, but whoever typed a command can mend it. ValueError: no address."""
    for one in addresses(url):
        _check(one)
    complaints = Complaints()
    options: dict[str, Any] = {"connect_timeout": 2, "reconnect_time_wait": _TRY_S, "error_cb": complaints.hear}
    if login is not None:
        options |= {"user": login.user, "password": login.password}
    while True:
        client = Client()
        try:
            await client.connect(addresses(url), max_reconnect_attempts=-1, allow_reconnect=False, **options)
            return
        except (nats.errors.Error, OSError) as error:
            if (said := _complaint(error) or _other(error)).lasting:
                raise NotLetIn(f"{said.event}: {said.cause}; {said.remedy}") from None
            complaints.tell(said)
        finally:
            await client.close()
        await asyncio.sleep(_TRY_S)


def _check(address: str) -> None:
    """It may have a password in it, which is not to be shown."""
    with contextlib.suppress(ValueError):
        at = urlsplit(address if "//" in address else f"//{address}")
        if at.hostname and at.port != 0:
            return
    raise ValueError(
        "FAIRWAY_NATS_URL has an address without a host, or with a port that is none; set it to "
        "nats://HOST:PORT, or several with commas"
    )


def _other(error: Exception) -> Complaint:
    """Such as that it has too many connections."""
    return Complaint("NATS is not reached", _text(error), "look into the log of the server")
