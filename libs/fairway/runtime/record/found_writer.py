"""Stores what decisions found apart from their events (stream FOUND), before the decisions are committed.

A record whose decision is then not taken is void: no event refers to it.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence

from fairway.domain.decision import FoundApart
from fairway.runtime.ports import Outgoing, World
from fairway.runtime.publishing import Publishing
from fairway.wire import subjects, views

KIND = "fairway.found"
# So many bytes are stored at once, far below what a server takes.
_MOST_BYTES = 256 << 10


class FoundWriter:
    """Of one service in one process. The names of the clusters are stored with the first records that are of them;
    those that come later refer to that place."""

    def __init__(self, service: str, world: World, saying: Publishing) -> None:
        self._service = service
        self._owner = world.owner
        self._saying = saying
        self._clusters: tuple[str, ...] | None = None
        self._at = 0
        self._count = 0

    async def store(self, found: Sequence[FoundApart], still: Callable[[], Awaitable[object]]) -> None:
        """Stores them and fills in their `ref`s. What can never be stored (a dead letter says why) has place 0."""
        for together in _together(found):
            clusters = together[0].clusters
            refers = self._clusters is clusters
            place = await self._publish(together, self._at if refers else 0, still)
            if refers and 0 < place <= self._at:  # the stream was made anew, and the names are gone
                refers = False
                place = await self._publish(together, 0, still)
            if not refers:
                self._clusters, self._at = (clusters, place) if place else (None, 0)
            for record, one in enumerate(together):
                one.ref.at = place
                one.ref.record = record

    async def _publish(
        self, together: Sequence[FoundApart], clusters_at: int, still: Callable[[], Awaitable[object]]
    ) -> int:
        self._count += 1
        records = tuple(views.FoundRecord(one.job, one.rev, one.packed) for one in together)
        names = () if clusters_at else together[0].clusters
        data = views.encode(views.FoundBatch(self._owner, clusters_at, names, records))
        # Nobody knows the owner beforehand: an id that it counts is nobody else's.
        name = f"{self._owner}.found.{self._count}"
        subject = subjects.found(self._service)
        return await self._saying.insist([Outgoing(name, subject, data, KIND, f"/fairway/{self._service}")], still)


def _together(found: Sequence[FoundApart]) -> Iterator[list[FoundApart]]:
    """What goes into one message: of the same clusters, and not too much."""
    together: list[FoundApart] = []
    size = 0
    for one in found:
        size += len(bytes(one.packed))
        if together and (one.clusters is not together[0].clusters or size > _MOST_BYTES):
            yield together
            together = []
            size = len(bytes(one.packed))
        together.append(one)
    if together:
        yield together
