"""Why a job is where it is, and its story, read the same whether what was found stands in its events or apart."""

import msgspec

from fairway.domain.job import Job, State
from fairway.explain.story import story_of, why
from fairway.runtime.record.found_reader import FoundReader
from fairway.wire import jobs as wire
from tests.spec.replay.recorded import NAMES, House, open_house


async def told(house: House) -> dict[str, tuple[bytes, bytes]]:
    """Why and story of each job, some just placed."""
    for name in NAMES:
        await house.cluster(name)
    for _ in range(20):
        await house.dequeue()
    await house.later(1)
    reader = FoundReader(house.bus)
    store = house.store.beside()
    await store.open()
    found = {}
    for job in house.jobs():
        story = await story_of(house.bus, store, job.id)
        assert story is not None
        because = why(await reader.job(placed(house, job)), None, house.clock.now(), None)
        found[job.id] = msgspec.json.encode(because), msgspec.json.encode(story.lines)
    return found


def placed(house: House, job: Job) -> Job:
    """With the record of its placement, as the door reads it."""
    row = house.store.rows.get("placed", {}).get(job.id)
    if row is None:
        return job
    return msgspec.structs.replace(job, placed=msgspec.json.decode(row.data, type=wire.Placed))


async def test_both_say_the_same() -> None:
    async with open_house(5, rounds=10, alongside=32) as house:
        alongside = await told(house)
    async with open_house(5, rounds=10, alongside=0) as house:
        apart = await told(house)
        assert len(house.bus.stored("FOUND")) > 5
        states = {job.state for job in house.jobs()}
    assert {State.QUEUED, State.PLACED} <= states
    assert apart == alongside
    assert any(b"node by node" in because for because, _ in apart.values())
    assert any(b"score of" in story for _, story in apart.values())
