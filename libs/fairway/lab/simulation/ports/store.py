"""The store as one process reaches it."""

from typing import Any

from fairway.adapters.memory.store import MemoryStore
from fairway.lab.simulation.process import SimulatedProcess
from fairway.runtime.ports import Unreachable


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

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found):
            return found

        async def made(*given: Any) -> Any:
            if self._reach.away:
                raise Unreachable("the store does not answer")
            return await found(*given)

        async def call(*given: Any) -> Any:
            return await self._process.call(lambda: made(*given), "the store")

        return call

    async def close(self) -> None:
        return None
