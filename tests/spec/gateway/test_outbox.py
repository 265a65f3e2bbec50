"""What is said of settings: in order, many at a time, and waited for only by those who have to."""

import asyncio
from collections.abc import Sequence

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import Say
from fairway.gateway.http.outgoing import HubOutbox, Post
from fairway.runtime.ports import World
from tests.support.memory.clock import ManualClock


class SlowPost(Post):
    """Stores nothing before `go`; `pieces` are what was stored at once."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.pieces: list[list[str]] = []
        self.go = asyncio.Event()

    async def say(self, words: Sequence[Say]) -> None:
        await self.go.wait()
        self.pieces.append([one.id for one in words])


def word(name: str) -> Say:
    return Say(name, "fairway.config.x", None)  # type: ignore[arg-type]  # nobody reads it


async def test_who_waits_waits_for_all_that_was_put_in_before() -> None:
    clock = ManualClock()
    post = SlowPost(World(bus=MemoryBus(clock), store=MemoryStore(), clock=clock, owner="gateway"))
    outbox = HubOutbox(post)
    running = asyncio.create_task(outbox.run())
    outbox.put([word("a")])
    await asyncio.sleep(0)
    outbox.put([word("b"), word("c")])
    saying = asyncio.create_task(outbox.say([word("d")]))
    for _ in range(9):
        await asyncio.sleep(0)
    assert not saying.done()
    post.go.set()
    await asyncio.wait_for(saying, 5)
    running.cancel()
    assert post.pieces == [["a"], ["b", "c", "d"]]
