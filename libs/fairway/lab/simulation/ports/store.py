"""The store as one process reaches it."""

from collections.abc import Mapping
from typing import Any

from fairway.adapters.memory.store import MemoryStore
from fairway.lab.simulation.process import SimulatedProcess
from fairway.runtime.ports import Commit, ReadRows, Unreachable, Wanted


class StoreReach:
    """Whether the store's server answers anybody."""

    def __init__(self) -> None:
        self.away = False


class StorePort:
    """One client. Every call of it passes the gate of its process."""

    def __init__(self, process: SimulatedProcess, store: MemoryStore, reach: StoreReach) -> None:
        self._process = process
        self._store = store
        self._reach = reach

    async def _call(self, name: str, *args: Any) -> Any:
        async def made() -> Any:
            if self._reach.away:
                raise Unreachable("the store does not answer")
            return await getattr(self._store, name)(*args)

        return await self._process.call(made, "the store")

    @property
    def born(self) -> int:
        return self._store.born

    async def open(self) -> bool:
        return bool(await self._call("open"))

    async def read(self, wanted: Wanted) -> ReadRows:
        found: ReadRows = await self._call("read", wanted)
        return found

    async def keys(self, table: str, after: str, most: int) -> list[str]:
        found: list[str] = await self._call("keys", table, after, most)
        return found

    async def commit(self, commit: Commit) -> list[bool]:
        taken: list[bool] = await self._call("commit", commit)
        return taken

    async def begin_rebuild(self, owner: str, ttl_ms: int) -> bool:
        return bool(await self._call("begin_rebuild", owner, ttl_ms))

    async def renew_rebuild(self, ttl_ms: int) -> bool:
        return bool(await self._call("renew_rebuild", ttl_ms))

    async def load(self, table: str, rows: Mapping[str, tuple[int, bytes]]) -> None:
        await self._call("load", table, rows)

    async def load_counters(self, table: str, counters: Mapping[str, int]) -> None:
        await self._call("load_counters", table, counters)

    async def finish_rebuild(self, epoch: str) -> None:
        await self._call("finish_rebuild", epoch)

    async def lease(self, name: str, owner: str, ttl_ms: int) -> int:
        return int(await self._call("lease", name, owner, ttl_ms))

    async def close(self) -> None:
        return None
