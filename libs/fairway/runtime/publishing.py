"""Publishing until it is done. A bus that is away is waited for; what can never be published is a dead letter, and
nobody waits for it: a stage that did would never say anything again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from fairway.runtime.ports import Outgoing, Unreachable, World
from fairway.runtime.record.dead_letters import KIND, unsayable
from fairway.runtime.record.publishable import Unsaid, Unsayable
from fairway.runtime.retry import SeldomLog
from fairway.runtime.spoken_of import said_of
from fairway.wire.reasons import Code

log = structlog.get_logger()
# After so many rounds in which nothing could be said (half a second each, or five while the bus is away) who says it is
# not ready.
_ROUNDS = 3


class Publishing:
    """Of one service in one process. `count` is told of what can never be published."""

    def __init__(self, service: str, world: World, count: Callable[[Code], None] = lambda code: None) -> None:
        self._service = service
        self._world = world
        self._count = count
        self._failing: dict[int, str] = {}
        self._lines = SeldomLog()

    @property
    def waiting(self) -> str:
        """Why it has been unable to say what is to be said, for some rounds by now; empty while it says it."""
        return next(iter(self._failing.values()), "")

    async def insist(self, messages: Sequence[Outgoing], still: Callable[[], Awaitable[object]] | None = None) -> int:
        """Publishes until it is done, or until `still`, which is asked before each further try, raises. What can never
        be published is a dead letter: nobody waits for it. The highest place of what is stored now; 0: there was
        something that will never be."""
        rounds = 0
        whole = True
        me = id(asyncio.current_task())
        try:
            while messages:
                try:
                    place = await self._world.bus.publish(messages, tries=1)
                    return place if whole else 0
                except Unsayable as error:
                    whole = False
                    messages = self._letters(error.refused)
                    continue
                except Unreachable as error:
                    self._lines.waits(self._service, error)
                    rounds += 1
                    if rounds >= _ROUNDS:
                        self._failing[me] = f"{len(messages)} messages could not be published {rounds} times: {error}"
                await self._world.clock.sleep(0.5)
                if still is not None:
                    await still()
        finally:
            self._failing.pop(me, None)
        return 0

    def _letters(self, refused: Sequence[Unsaid]) -> list[Outgoing]:
        """One for each of them; one that cannot be said either is a line of the log."""
        letters = []
        for one in refused:
            log.error("cannot be published", service=self._service, **said_of(one.message), cause=one.why.text)
            letter = unsayable(self._service, one, self._world.clock.now())
            if letter is not None:
                letters.append(letter)
            if one.message.kind != KIND:
                self._count(one.why.code)
        return letters
