"""Where the servers of NATS are, who comes to them, and what they complain of."""

import asyncio
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

import structlog

from fairway.adapters.logins import LoginFile, refused
from fairway.adapters.nats.headers import NOT_ALLOWED
from fairway.adapters.rights.bus_rights import inbox
from fairway.wire import subjects

log = structlog.get_logger()
_EVERYBODYS = "_INBOX"
# The same complaint is told again after so many seconds.
_AGAIN_S = 10.0
# What a server says to whom it does not know.
_TURNED_OUT = ("authorization", "authentication", "revoked")


def addresses(url: str) -> list[str]:
    """Of the servers of a cluster, any of which may be down when a client comes."""
    return [one.strip() for one in url.split(",") if one.strip()]


def inbox_of(url: str, login: LoginFile | None) -> str:
    """Below it come answers to this user alone. Without a user, or where its name is no token, it is everybody's."""
    user = login.last.user if login is not None else urlsplit(addresses(url)[0]).username or ""
    return inbox(user) if user and subjects.token(user) == user else _EVERYBODYS


class Complaints:
    """What the server of one connection complains of, and why it is not reached. The library's default prints each
    error."""

    def __init__(self) -> None:
        self._told = ""
        self._again = 0.0

    async def hear(self, error: Exception) -> None:
        text = str(error).removeprefix("nats: ")
        if NOT_ALLOWED in text.lower():
            refused("NATS", text)
        elif any(word in text.lower() for word in _TURNED_OUT):
            remedy = (
                "FAIRWAY_CREDENTIALS_DIR, or FAIRWAY_NATS_URL, has to hold a user and a password that the server knows"
            )
            self._tell(log.error, "NATS lets nobody in by this credential", text, remedy)
        elif isinstance(error, ssl.SSLError):
            remedy = (
                "SSL_CERT_FILE has to name the CA of its certificate, and FAIRWAY_NATS_URL a host that stands in it"
            )
            self._tell(log.error, "NATS is not trusted", text, remedy)
        elif isinstance(error, OSError) or "tls" in text.lower():
            remedy = "start it, or set FAIRWAY_NATS_URL, which begins with tls:// where NATS asks for TLS"
            self._tell(log.warning, "NATS is not reached", text, remedy)

    def _tell(self, say: Callable[..., object], event: str, text: str, remedy: str) -> None:
        """Who is turned out tries again several times a second."""
        now = asyncio.get_running_loop().time()
        if text == self._told and now < self._again:
            return
        self._told = text
        self._again = now + _AGAIN_S
        say(event, cause=text, remedy=remedy)
