"""The last word on each cluster's free room."""

from collections.abc import Iterator

import msgspec

from fairway.domain.job import Job
from fairway.domain.resources import scale
from fairway.queue.waiting.freed_room import taken_of
from fairway.runtime.service import Remembered
from fairway.runtime.views.jobs import requests_of
from fairway.wire import fleet
from fairway.wire import jobs as wire

# So many attempts are remembered that went to room which was kept for them.
_TO_KEPT = 10_000


class ClustersRoom:
    """The last word on each cluster's free room, less what was surely reserved since: never less than there is. Whether
    `all_known` is, and how often room was `freed` anywhere, is as it was read last. The attempts `to_kept` room take
    nothing that was free."""

    def __init__(self) -> None:
        self.freed = 0
        self.all_known = False
        self.last: dict[str, fleet.Freed] = {}
        self.counted: dict[str, dict[str, None]] = {}
        self.to_kept: dict[str, None] = {}

    def hear(self, freed: fleet.Freed) -> None:
        known = self.last.get(freed.cluster)
        if known is None or freed.at >= known.at:
            self.last[freed.cluster] = freed
            self.counted[freed.cluster] = {}

    def remembered(self) -> Iterator[Remembered]:
        yield from (Remembered("room", name, room) for name, room in self.last.items())
        yield from (Remembered("counted", name, [*keys]) for name, keys in self.counted.items())
        yield from (Remembered("to kept", key, None) for key in self.to_kept)

    def recall(self, table: str, key: str, data: bytes) -> None:
        """A part of what was remembered."""
        match table:
            case "room":
                self.last[key] = msgspec.json.decode(data, type=fleet.Freed)
            case "counted":
                self.counted[key] = dict.fromkeys(msgspec.json.decode(data, type=list[str]))
            case _:
                self.to_kept[key] = None

    def goes(self, message: wire.Dequeued) -> None:
        """Room that is kept for the job, or any, is where its attempt goes now."""
        self.to_kept.pop(f"{message.job}/{message.attempt}", None)
        if message.kept:
            self.to_kept[f"{message.job}/{message.attempt}"] = None
        if len(self.to_kept) > _TO_KEPT:
            del self.to_kept[next(iter(self.to_kept))]

    def reserve(self, message: wire.Reserved, job: Job | None) -> None:
        """Counted once, however often it is heard; and not if the room may have been told after it was taken."""
        room = self.last.get(message.cluster)
        key = f"{message.job}/{message.attempt}"
        if room is None or job is None or message.at <= room.at or key in self.counted[message.cluster]:
            return
        self.counted[message.cluster][key] = None
        if key in self.to_kept:
            return
        for slot in message.slots:
            self.last[message.cluster] = room = taken_of(room, scale(requests_of(job)[slot.pods], slot.count))
