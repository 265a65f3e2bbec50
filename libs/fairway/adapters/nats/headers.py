"""Headers of messages that anybody may have published: read without trust, and kept from nats-py, which stops reading
from its connection, until that is taken for lost, when anything raises in it."""

import asyncio

import nats.errors
import structlog
from nats.aio.client import Client

from fairway.runtime.record.publishable import LONGEST_ID

log = structlog.get_logger()
# What the server says of a subject that this user may not say or hear. The connection goes on.
NOT_ALLOWED = "permissions violation"
ID = b"\r\nNats-Msg-Id: "
PARTS = b"\r\nFairway-Bundle: "
# Put in the place of what nats-py could not read, for the wire that has no other way to see it.
FAULT = b"\r\nFairway-Fault: "
_VERSION = b"NATS/1.0"
# A header block of a stored message has 64 KiB at most, so a bundle's ids are not more.
_MOST_BYTES = 1 << 16


class Faulty(ValueError):
    """A message whose subject or headers are not what anybody of ours writes."""


def value(headers: bytes, name: bytes, most: int = LONGEST_ID) -> str:
    """The value of a header, or empty. Faulty when it is there twice, and when it is not plain text."""
    at = headers.find(name)
    if at < 0:
        return ""
    start = at + len(name)
    end = headers.find(b"\r\n", start)
    raw = headers[start:end] if end >= 0 else headers[start:]
    if end >= 0 and headers.find(name, end) >= 0:
        raise Faulty(f"its header {_named(name)} is there twice")
    if len(raw) > most:
        raise Faulty(f"its header {_named(name)} has {len(raw)} bytes; {most} is the most")
    text = raw.decode("ascii", "replace")
    if not text.isprintable() or "\ufffd" in text:
        raise Faulty(f"its header {_named(name)} is not printable ASCII")
    return text


def parts(headers: bytes) -> list[str]:
    """The ids of the messages of a bundle, if it is one."""
    return value(headers, PARTS, _MOST_BYTES).split()


def check(subject: bytes, headers: bytes) -> str:
    """The subject as text. Faulty when it is none, or when the wire has found a fault."""
    if FAULT in headers:
        raise Faulty("its subject or its headers are no text")
    try:
        return subject.decode()
    except UnicodeDecodeError:
        raise Faulty("its subject is not UTF-8") from None


def _named(name: bytes) -> str:
    return name.decode().strip(": \r\n")


class Guarded(Client):
    """nats-py's client, whose reading goes on whatever a message holds, and whoever has left."""

    async def _process_err(self, err_msg: str) -> None:
        """Whom the server turns out, it may let in again: with another password, or when it has taken over its own
        file. nats-py would stay away for good."""
        if self.is_connected and NOT_ALLOWED not in err_msg.lower():
            error = nats.errors.Error(f"nats: {err_msg}")
            await self._error_cb(error)
            await self._process_op_err(error)
        else:
            await super()._process_err(err_msg)

    async def _process_pong(self) -> None:
        """The answer to a flush that was given up is nobody's. It is taken all the same: the next one is another's."""
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        if not subject.isascii() or not reply.isascii() or (headers and _odd(headers)):
            subject = _ascii(subject)
            reply = _ascii(reply)
            headers = _mended(headers or b"")
        try:
            await super()._process_msg(sid, subject, reply, data, headers)
        except Exception as error:  # one message is not the connection's fault
            log.error("message not taken", subject=_ascii(subject).decode(), error=repr(error))


def _odd(headers: bytes) -> bool:
    """Whether nats-py would raise at it, or read it otherwise than it stands there."""
    if not headers.isascii() or not headers.startswith(_VERSION) or len(headers) < len(_VERSION) + 4:
        return True
    return any(headers.count(name) > 1 for name in (ID, PARTS))


def _mended(headers: bytes) -> bytes:
    """The lines of it that are some, and a line that says that it was not all of them."""
    lines = [line for line in _ascii(headers).split(b"\r\n")[1:] if b":" in line]
    return b"%b%b1%b\r\n\r\n" % (_VERSION, FAULT, b"".join(b"\r\n%b" % line for line in lines))


def _ascii(raw: bytes) -> bytes:
    return raw.decode("ascii", "backslashreplace").encode()
