"""What is to come of room that is held for a gang, and a stranger who wants it."""

import asyncio
import contextlib

from fairway.propagator.calls import Made
from fairway.propagator.held_room import Room
from fairway.propagator.rooms import Rooms
from fairway.runtime.ports import Unreachable
from tests.kubernetes.room.holding import Ground, until


class Stranger:
    """Makes pods of the gang's size and priority, all the time, and some of them are always waiting."""

    def __init__(self, place: Ground) -> None:
        self._place = place
        self._made = 0

    async def __aenter__(self) -> "Stranger":
        self._task = asyncio.create_task(self._try())

        async def tries() -> bool:
            return self._made > 20

        await until(tries, "the stranger tries")
        return self

    async def __aexit__(self, *error: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._place.cluster.discard("Pod.v1", "default", {"who": f"stranger-{self._place.name}"})

    async def _try(self) -> None:
        place = self._place
        who = f"stranger-{self._place.name}"
        while True:
            self._made += 1
            await place.cluster.create("Pod.v1", place.pod(f"{who}-{self._made}", who=who))
            if self._made > 30:
                await place.cluster.discard("Pod.v1", "default", {"who": who}, f"{who}-{self._made - 30}")
            await asyncio.sleep(0.005)  # or it takes the processor that the schedulers need

    async def inside(self) -> list[str]:
        """Those of them that got onto a node."""
        pods = await self._place.pods(selector=f"who=stranger-{self._place.name}")
        return [pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName")]


async def gets_in(place: Ground, name: str) -> None:
    """A pod of the gang's size finds a node."""
    await place.cluster.create("Pod.v1", place.pod(name, who=name))

    async def bound() -> bool:
        (pod,) = await place.pods(selector=f"who={name}")
        return bool(pod["spec"].get("nodeName"))

    await until(bound, f"{name} has a node")


async def held_whole(rooms: Rooms, room: Room) -> None:
    """As a job is applied only when all of its room is held: before that a stranger may take what is not held yet, and
    does where a scheduler is slow."""

    async def whole() -> bool:
        with contextlib.suppress(Unreachable):  # its namespace is being made
            found = await rooms.make("m", room)
            return found.ready == found.total
        return False

    await until(whole, "all of the room is held")


async def looked(rooms: Rooms, room: Room, times: int) -> Made:
    """What is held after so many looks."""
    for _ in range(times):
        await rooms.make("m", room)
    return await rooms.make("m", room)


async def on_nodes(place: Ground, room: Room) -> list[str]:
    """The nodes of the gang's pods, once all have one."""

    async def look() -> list[str]:
        nodes = [pod["spec"].get("nodeName", "") for pod in await place.ours(room)]
        return sorted(nodes) if len(nodes) == len(room.names) and all(nodes) else []

    return list(await until(look, "every pod of the gang has a node"))


async def gone(place: Ground, room: Room) -> None:
    async def none() -> bool:
        return not await place.held(room)

    await until(none, "nothing holds room any more")
