"""The store on Redis or Valkey: one MULTI for a read, one Lua call for a commit, both of them guarded by the epoch.

The epoch says which rebuild of the working set this is, and on which server. A store that was wiped has none, nor has a
replica that was made primary, so that nobody mistakes an empty store, or an old one, for what is.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from redis.asyncio import Redis
from redis.exceptions import (
    ConnectionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TimeoutError,
)

from fairway.adapters.logins import LoginFile
from fairway.adapters.valkey.connections import away, heed_rights, pool
from fairway.adapters.valkey.reads import at_once, checked, commands
from fairway.adapters.valkey.rows import found_rows, pack_step
from fairway.domain.working_sets import born_of
from fairway.runtime.ports import Commit, ReadRows, StoreWiped, Unreachable, Wanted
from fairway.runtime.ports import Fenced as FencedOut
from fairway.runtime.vital_tasks import heed

_HERE = Path(__file__).parent
_SCRIPTS = {name: (_HERE / f"{name}.lua").read_text() for name in ("commit", "changes", "lease", "load", "rebuild")}
# Refusals that pass: no memory, not primary yet, a disk that is full, too few replicas, another script that runs long.
_FOR_NOW = (OutOfMemoryError, ReadOnlyError)
_FOR_NOW_CODES = ("MISCONF", "NOREPLICAS", "BUSY")
# HSET of a rebuild in pieces that keep the server answering others in between.
_PIECE = 2_000

T = TypeVar("T")


class RedisStore:
    """`prefix` is a hash tag, so that all keys share a slot. With a `login` user and password are those of its file,
    whatever the address says. Raises Unreachable, StoreWiped or Fenced."""

    def __init__(self, url: str, prefix: str = "{fairway}", login: LoginFile | None = None) -> None:
        self._redis = Redis(connection_pool=pool(url, login))
        self._prefix = prefix
        self._epoch = ""
        self._owner = ""
        self._shas: dict[str, str] = {}

    async def _run(self, name: str, *args: Any) -> Any:
        return await self._answered(lambda: self._eval(name, *args))

    async def _answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            answer = await ask()
            heed()
            return answer
        except (ConnectionError, TimeoutError, OSError) as error:
            raise away(error) from error
        except ResponseError as error:
            heed_rights(error)
            if isinstance(error, _FOR_NOW) or str(error).startswith(_FOR_NOW_CODES):
                raise Unreachable(f"the store takes no writes: {error}; waiting until it does") from error
            raise

    async def _eval(self, name: str, *args: Any) -> Any:
        return await self._with_script(name, lambda sha: self._redis.evalsha(sha, 0, self._prefix, *args))

    async def _with_script(self, name: str, ask: Callable[[str], Awaitable[T]]) -> T:
        """What is asked with the digest of a script, which a server that began anew has to be given first."""
        try:
            if name not in self._shas:
                raise NoScriptError
            return await ask(self._shas[name])
        except NoScriptError:
            self._shas[name] = await self._redis.script_load(_SCRIPTS[name])
            return await ask(self._shas[name])

    async def _do(self, *command: Any) -> Any:
        try:
            answer = await self._redis.execute_command(*command)  # type: ignore[no-untyped-call]  # untyped in redis-py
            heed()
            return answer
        except (ConnectionError, TimeoutError, OSError) as error:
            raise away(error) from error
        except RedisError as error:
            heed_rights(error)
            raise Unreachable(f"the store refused {command[0]}: {error}") from error

    @property
    def born(self) -> int:
        return born_of(self._epoch)

    async def open(self) -> bool:
        epoch = await self._run("rebuild", "", "open")
        self._epoch = epoch.decode() if epoch else ""
        return bool(epoch)

    async def read(self, wanted: Wanted) -> ReadRows:
        tables = [(table, keys) for table, keys in wanted.rows.items() if keys]

        async def ask(sha: str) -> list[Any]:
            return await at_once(self._redis.connection_pool, commands(self._prefix, wanted, tables, sha))

        if wanted.since is None:
            answers = await self._answered(lambda: ask(""))
        else:
            answers = await self._answered(lambda: self._with_script("changes", ask))
        return found_rows(wanted, tables, checked(wanted, tables, self._epoch, answers))

    async def keys(self, table: str, after: str, most: int) -> list[str]:
        above = f"({after}" if after else "-"
        found = await self._do("ZRANGEBYLEX", f"{self._prefix}:keys:{table}", above, "+", "LIMIT", 0, most)
        return [key.decode() for key in found]

    async def commit(self, commit: Commit) -> list[bool]:
        payloads = commit.payloads or (b"",) * len(commit.steps)
        blobs: list[bytes] = []
        steps = [pack_step(*parts, blobs) for parts in zip(payloads, commit.steps, strict=True)]
        request = msgspec.msgpack.encode([steps, commit.outbox, commit.key, commit.done, commit.lease, commit.token])
        answer = _taken(await self._run("commit", self._epoch, request, *blobs))
        return [digit == ord("1") for digit in answer]

    async def begin_rebuild(self, owner: str, ttl_ms: int) -> bool:
        """Takes the lock and clears what an unfinished rebuild left."""
        self._owner = owner
        if not await self._run("rebuild", owner, "begin", ttl_ms):
            return False
        keep = {f"{self._prefix}:{name}".encode() for name in ("rebuilding", "epoch")}
        for key in await self._keys(f"{self._prefix}:*") - keep:
            await self._do("UNLINK", key)
        return True

    async def void(self) -> bool:
        """Takes the working set away from all who have opened it: whatever they read or commit is StoreWiped, and the
        first of them to notice makes it anew. False when it is another one than this client has opened."""
        return bool(await self._run("rebuild", "", "void", self._epoch))

    async def tables(self) -> list[str]:
        """The names of all that there are now."""
        head = f"{self._prefix}:t:"
        return sorted(key.decode().removeprefix(head) for key in await self._keys(f"{head}*"))

    async def table(self, name: str) -> dict[str, bytes]:
        """All of a table as it is stored, in pieces and so not of one moment: for who looks at everything."""
        found = dict[str, bytes]()
        async for piece in self._pieces("HSCAN", f"{self._prefix}:t:{name}"):
            found |= {key.decode(): value for key, value in piece.items()}
        return found

    async def size(self, table: str) -> int:
        return int(await self._do("HLEN", f"{self._prefix}:t:{table}"))

    async def _keys(self, pattern: str) -> set[bytes]:
        return {key async for piece in self._pieces("SCAN", match=("MATCH", pattern)) for key in piece}

    async def _pieces(self, *command: str, match: tuple[str, ...] = ()) -> AsyncIterator[Any]:
        cursor = 0
        while True:
            cursor, piece = await self._do(*command, cursor, *match, "COUNT", _PIECE)
            yield piece
            if not cursor:
                return

    async def renew_rebuild(self, ttl_ms: int) -> bool:
        return bool(await self._run("rebuild", self._owner, "renew", ttl_ms))

    async def load(self, table: str, rows: Mapping[str, tuple[int, bytes]]) -> None:
        await self._load(table, "rows", {key: b"%d|%b" % (rev, data) for key, (rev, data) in rows.items()})

    async def load_counters(self, table: str, counters: Mapping[str, int]) -> None:
        await self._load(table, "counters", counters)

    async def _load(self, table: str, kind: str, values: Mapping[str, Any]) -> None:
        flat = [part for pair in values.items() for part in pair]
        for start in range(0, len(flat), 2 * _PIECE):
            piece = flat[start : start + 2 * _PIECE]
            if not await self._run("load", self._owner, table, kind, *piece):
                raise Unreachable("another process took over the rebuild; waiting for it to finish")

    async def finish_rebuild(self, epoch: str) -> None:
        if not await self._run("rebuild", self._owner, "finish", epoch):
            raise Unreachable("another process took over the rebuild; waiting for it to finish")
        self._epoch = epoch

    async def lease(self, name: str, owner: str, ttl_ms: int) -> int:
        return int(await self._run("lease", name, owner, ttl_ms))

    async def log_in_again(self) -> None:
        """With what the login says now, on connections that are opened from now on: what is on its way is answered."""
        await self._redis.connection_pool.disconnect(inuse_connections=False)

    async def close(self) -> None:
        await self._redis.aclose()
        await self._redis.connection_pool.disconnect()


def _taken(answer: Any) -> Any:
    """The answer of a script that keeps out whoever knows another working set, or owns nothing any more."""
    if answer == b"WIPED":
        raise StoreWiped
    if answer == b"FENCED":
        raise FencedOut
    return answer
