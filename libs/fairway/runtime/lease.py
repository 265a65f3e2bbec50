"""Before a service works: the store holds a working set (else it is rebuilt), and a single owner has its lease."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

import structlog

from fairway.runtime.metrics.accumulators import OF_REBUILDS, Durations
from fairway.runtime.ports import Unreachable, World
from fairway.runtime.record.rebuild import rebuild
from fairway.runtime.retry import SeldomLog
from fairway.runtime.service import AnyService

log = structlog.get_logger()
# A dead owner is replaced after this long; renewed three times in it.
LEASE_MS = 3_000
# How often it is looked whether the store is filled, and how often who waits for a lease asks for it (s).
_LOOK_S = 0.1
_ASK_S = 0.5
# A rebuilder that died is replaced after this long; renewed three times in it.
_REBUILD_MS = 6_000
# Who ends gives its lease up: it is set to run out at once. It does not wait longer than this for the store (s).
_AT_ONCE_MS = 1
_PATIENCE_S = 1.0


class StoreAndLease:
    """`works` while there is all that the loop needs, as far as it knows; else `lacking` says what is missing.
    `changes` counts how often the lease was got from another owner or anew, and `rebuilding` how long rebuilds took."""

    def __init__(self, service: AnyService, world: World) -> None:
        self._service = service
        self._world = world
        self.token = self._rebuilds = self.changes = 0
        self.works = False
        self.lacking = "has not begun yet"
        self.rebuilding = Durations(OF_REBUILDS)
        self._lines = SeldomLog()

    async def open(self, stand_by: Callable[[], Awaitable[None]]) -> None:
        """Returns when work may begin; waits for the bus and the store as long as it takes. `stand_by` is awaited when
        another instance has the lease."""
        while True:
            wait = _LOOK_S
            try:
                filled = await self._world.store.open() or await self._rebuilt()
                if filled and (not self._service.single or await self._take_lease()):
                    return
                self.lacking = "another process has its lease" if filled else "the working set is being made"
                if filled:
                    await stand_by()
                wait = _ASK_S if filled else _LOOK_S
            except Unreachable as error:
                self.lacking = f"waits for the store or the bus: {error}"
                self.waits(error)
            await self._world.clock.sleep(wait * self._world.pace)

    def waits(self, error: Exception) -> None:
        """Says why, and not at every try."""
        self._lines.waits(self._service.name, error)

    async def _rebuilt(self) -> bool:
        store = self._world.store
        if not await store.begin_rebuild(self._world.owner, _REBUILD_MS):
            return False
        self._rebuilds += 1
        begun = time.monotonic()
        renewing = asyncio.create_task(self._renew())
        try:
            count = await rebuild(self._world.bus, store, self._world.owner, self._rebuilds)
        finally:
            renewing.cancel()
        self.rebuilding.observe(time.monotonic() - begun)
        log.info("rebuilt the working set from the record", service=self._service.name, jobs=count)
        return True

    async def _renew(self) -> None:
        while await self._world.store.renew_rebuild(_REBUILD_MS):
            await self._world.clock.sleep(_REBUILD_MS / 3000)

    async def _take_lease(self) -> bool:
        token = await self._lease()
        self.changes += bool(token) and token != self.token
        self.token = token
        return self.token > 0

    async def _lease(self) -> int:
        ttl = int(LEASE_MS * self._world.pace)
        asked = self._world.clock.now()
        token = await self._world.store.lease(self._service.name, self._world.owner, ttl)
        if token:
            self._service.ownership.granted(asked, ttl)
        else:
            self._service.ownership.over()
        return token

    async def keep_lease(self) -> None:
        """Renews the lease, and gives it up in the end: who stands by has it at its next question. When renewing fails
        the next commit is fenced, and the loop opens anew."""
        try:
            while True:
                await self._world.clock.sleep(LEASE_MS / 3000 * self._world.pace)
                try:
                    await self._lease()
                except Unreachable as error:
                    self._lines.tell(log.warning, "lease not renewed", str(error), service=self._service.name)
        finally:
            # By a task of its own, as this one was told to end. If the store does not answer it runs out by itself.
            await asyncio.wait((asyncio.ensure_future(self._give_up()),), timeout=_PATIENCE_S)

    async def _give_up(self) -> None:
        self._service.ownership.over()
        if self.token:
            with contextlib.suppress(Unreachable):
                await self._world.store.lease(self._service.name, self._world.owner, _AT_ONCE_MS)
