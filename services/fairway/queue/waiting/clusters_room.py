"""The last word on each cluster's free room."""

from fairway.domain.job import Job
from fairway.domain.resources import scale
from fairway.queue.waiting.freed_room import taken_of
from fairway.runtime.views.jobs import requests_of
from fairway.wire import fleet
from fairway.wire import jobs as wire


class ClustersRoom:
    """The last word on each cluster's free room, less what was surely reserved since: never less than there is. Whether
    `all_known` is, and how often room was `freed` anywhere, is as it was read last."""

    def __init__(self) -> None:
        self.freed = 0
        self.all_known = False
        self.last: dict[str, fleet.Freed] = {}
        self.counted: dict[str, dict[str, None]] = {}

    def hear(self, freed: fleet.Freed) -> None:
        known = self.last.get(freed.cluster)
        if known is None or freed.at >= known.at:
            self.last[freed.cluster] = freed
            self.counted[freed.cluster] = {}

    def reserve(self, message: wire.Reserved, job: Job | None) -> None:
        """Counted once, however often it is heard; and not if the room may have been told after it was taken."""
        room = self.last.get(message.cluster)
        key = f"{message.job}/{message.attempt}"
        if room is None or job is None or message.at <= room.at or key in self.counted[message.cluster]:
            return
        self.counted[message.cluster][key] = None
        for slot in message.slots:
            self.last[message.cluster] = room = taken_of(room, scale(requests_of(job)[slot.pods], slot.count))
