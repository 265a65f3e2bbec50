"""A read as plain commands in one MULTI: a script would pack and copy each row once more, in Lua.

The commands are packed and their answers read by hand: redis-py's pipeline costs the client what the server saves.
"""

import asyncio
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import hiredis
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import ResponseError

from fairway.adapters.valkey.connections import ANSWER_S
from fairway.runtime.ports import Fenced, StoreWiped, Wanted

Command: TypeAlias = tuple[str | bytes, ...]
Tables: TypeAlias = list[tuple[str, list[str]]]


def commands(prefix: str, wanted: Wanted, tables: Tables, script: str) -> list[Command]:
    """`script` is the digest of changes.lua, when changes are asked for."""
    asked: list[Command] = [("INFO", "server"), ("GET", f"{prefix}:epoch")]
    if wanted.lease:
        asked.append(("GET", f"{prefix}:fence:{wanted.lease}"))
    asked += [("HMGET", f"{prefix}:t:{table}", *keys) for table, keys in tables]
    asked += [("HGETALL", f"{prefix}:t:{table}") for table in wanted.whole]
    asked.append(("GET", f"{prefix}:version"))
    if wanted.since is not None:
        asked.append(
            ("EVALSHA", script, "0", prefix, str(wanted.since), *wanted.follow, *map("-{}".format, wanted.gone))
        )
    return asked


def checked(wanted: Wanted, tables: Tables, epoch: str, answers: Sequence[Any]) -> list[Any]:
    """Rows, whole tables, version and changes out of what `commands` were answered. `epoch` is the one that this client
    knows: a server that was wiped has none, and a replica that was made primary has that of another server."""
    left = iter(answers)
    server = next(left).partition(b"run_id:")[2].partition(b"\r")[0]
    if not epoch or next(left) != b"%b@%b" % (epoch.encode(), server):
        raise StoreWiped
    if wanted.lease and next(left) != b"%d" % wanted.token:
        raise Fenced
    rows = [next(left) for _ in tables]
    whole = [_pairs(next(left)) for _ in wanted.whole]
    version = next(left) or b"0"
    changes = next(left) if wanted.since is not None else ()
    if changes == b"WIPED":
        raise StoreWiped
    return [rows, whole, version, changes]


def _pairs(answer: Any) -> list[tuple[bytes, bytes]]:
    """A hash is a list in the older protocol, and a dict in RESP3."""
    if isinstance(answer, dict):
        return list(answer.items())
    return list(zip(answer[::2], answer[1::2], strict=True))


async def at_once(pool: ConnectionPool, asked: Sequence[Command]) -> list[Any]:
    """What is answered to the commands, all of one moment."""
    each: list[Any] = [("MULTI",), *asked, ("EXEC",)]
    packed = b"".join([hiredis.pack_command(one) for one in each])
    connection: AbstractConnection = await pool.get_connection()  # type: ignore[no-untyped-call]  # untyped in redis-py

    async def failed(_: Exception) -> None:
        await connection.disconnect()

    try:
        answers: list[Any] = await connection.retry.call_with_retry(
            lambda: _exchange(connection, packed, len(asked) + 1), failed
        )
        return answers
    finally:
        await pool.release(connection)


async def _exchange(connection: AbstractConnection, packed: bytes, before: int) -> list[Any]:
    """What EXEC answers behind `before` other answers. All are read, whatever they are: the next who takes the
    connection would read what is left."""
    refused: ResponseError | None = None
    await connection.send_packed_command(packed)
    # One limit for all: each answer's own would be set and cleared a dozen times.
    async with asyncio.timeout(ANSWER_S):
        for _ in range(before):
            try:
                await connection.read_response(timeout=math.inf)
            except ResponseError as error:
                # EXEC says only that something was refused.
                refused = refused or error
        try:
            found: list[Any] = await connection.read_response(timeout=math.inf)
        except ResponseError as error:
            raise refused or error from None
    for one in found:
        if isinstance(one, Exception):
            raise one
    return found
