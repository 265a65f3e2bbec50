"""Of several processes that run one service one tells what is the same for all of them: a sum over processes counts
nothing twice. Who works behind a lease tells by that one; for all others there is a lease for this alone."""

from fairway.runtime.loop import Loop
from fairway.runtime.ownership import Ownership
from fairway.runtime.ports import StoreWiped, Unreachable

# When the process that tells is gone another one does after this long; renewed three times in it.
_TTL_MS = 6_000
_AT_FIRST_S = 0.5


class TellingLease:
    """Whether this process tells of a service; `extra` unless that works behind a lease anyway."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.extra = not loop.service.single
        self._mine = Ownership() if self.extra else loop.service.ownership

    @property
    def tells(self) -> bool:
        return self._loop.ready and self._mine.lasts(self._loop.world.clock.now())

    async def keep(self) -> None:
        """Asks for it as long as the process lives."""
        world = self._loop.world
        while True:
            if self._loop.ready:
                await self._ask()
            await world.clock.sleep(_TTL_MS / 3000 if self._loop.ready else _AT_FIRST_S)

    async def _ask(self) -> None:
        world = self._loop.world
        asked = world.clock.now()
        try:
            token = await world.store.lease(f"tells-{self._loop.service.name}", world.owner, _TTL_MS)
        except (Unreachable, StoreWiped):
            token = 0  # the loop says what it waits for
        if token:
            self._mine.granted(asked, _TTL_MS)
        else:
            self._mine.over()
