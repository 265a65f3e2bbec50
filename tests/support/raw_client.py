"""A second client of NATS, as an attacker has one: it writes what it likes, byte by byte."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit


class RawClient:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def publish(self, subject: bytes, data: bytes, headers: bytes = b"", reply: bytes = b"") -> None:
        """Returns when the server has taken it."""
        where = subject + (b" " + reply if reply else b"")
        if headers:
            line = b"HPUB %b %d %d\r\n" % (where, len(headers), len(headers) + len(data))
        else:
            line = b"PUB %b %d\r\n" % (where, len(data))
        self._writer.write(line + headers + data + b"\r\nPING\r\n")
        while (await self._reader.readline()).strip() != b"PONG":
            assert not self._reader.at_eof(), "the server has closed the connection"


@asynccontextmanager
async def raw_client(url: str) -> AsyncIterator[RawClient]:
    at = urlsplit(url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    await reader.readline()
    writer.write(b'CONNECT {"verbose":false,"headers":true}\r\n')
    try:
        yield RawClient(reader, writer)
    finally:
        writer.close()


def block(*lines: bytes) -> bytes:
    return b"NATS/1.0\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\n"
