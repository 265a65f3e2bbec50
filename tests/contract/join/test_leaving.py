"""A process that is told to end ends, and leaves what it had in hand to the others."""

import asyncio

from fairway.domain.decision import Add, Step
from fairway.runtime.ports import Bus, Store, Wanted
from tests.support.twins import consumed, said, taken


async def test_what_a_consumer_had_when_it_closed_comes_to_the_next_one_at_once(bus: Bus) -> None:
    """Taken and not acknowledged, or fetched ahead and never looked at; and nothing that was acknowledged."""
    leaving = await consumed(bus, "JOBS", "handed", ["fairway.job.queue.handed"])
    await bus.publish([said("handed", number) for number in range(5)])
    in_hand = [one for _ in range(3) for one in await leaving.batch(1)]
    leaving.ack(in_hand[:1])
    await leaving.close()
    staying = await consumed(bus, "JOBS", "handed", ["fairway.job.queue.handed"])
    got: set[str] = set()
    async with asyncio.timeout(10):
        while len(got) < 4:
            got |= {one.id for one in await staying.batch(10)}
    assert got == {f"handed-{number}" for number in range(1, 5)}
    await staying.close()


async def test_whoever_reads_or_writes_for_ever_ends_when_told_to_at_any_moment(store: Store) -> None:
    """A wait inside a client library may swallow the cancellation when what it waits for comes at that very moment."""

    async def for_ever() -> None:
        while True:
            await store.read(Wanted(rows={"jobs": ["a"]}))
            await store.keys("jobs", "", 10)
            await taken(store, Step((Add("quota", "c", 1),)))
            await asyncio.sleep(0)

    for moment in range(60):
        going = asyncio.create_task(for_ever())
        for _ in range(moment):
            await asyncio.sleep(0)
        going.cancel()
        await asyncio.wait({going}, timeout=5)
        assert going.cancelled(), f"it went on after {moment} turns of the loop"
