"""The ids of what an agent says: known to nobody before it is said."""

import asyncio

from fairway.wire import subjects
from tests.spec.agent.test_agent_service import Scene


class Told:
    """The ids of an agent whose first one everybody knows, as its messages tell it."""

    def __init__(self, own: str) -> None:
        self._left = ["known to all", own]

    def new(self) -> str:
        return self._left.pop(0)


async def test_nobody_derives_the_ids_of_its_messages_from_what_it_said() -> None:
    """Whoever may publish beside it could keep what it says next from being stored."""
    ids: list[set[str]] = []
    for own in ("north-1", "north-2"):
        scene = Scene(ids=Told(own))
        task = asyncio.create_task(scene.agent.run())
        scene.cluster.nodes("n1")
        scene.cluster.synced()
        await scene.after(20)
        said = [one for stream in (subjects.CONFIG, subjects.CLUSTERS) for one in scene.bus.stored(stream)]
        assert len(said) > 3 and not [one for one in said if own.encode() in one.data]
        ids.append({one.id for one in said})
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert ids[0].isdisjoint(ids[1])
