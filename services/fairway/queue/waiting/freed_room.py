"""Whether freed room could hold a job, and what is left of it when one is on the way there. Pure."""

from collections.abc import Mapping

import msgspec

from fairway.domain.resources import Resources, fits
from fairway.placement.constraints import matches
from fairway.queue.view import View
from fairway.queue.waiting.waiting_job import WaitingJob
from fairway.wire.fleet import Freed
from fairway.wire.policy import Affinity


def enough(entry: WaitingJob, freed: Freed, now: int) -> bool:
    """Whether the freed room could hold the gang by its sums, in a cluster that its policy selects and that it does not
    avoid after a failure there; what it takes node by node is the scheduler's to say."""
    total, largest = entry.least
    if entry.avoid.get(freed.cluster, 0) > now:
        return False
    return fits(total, freed.free) and fits(largest, freed.largest) and _selected(entry, freed)


def _selected(entry: WaitingJob, freed: Freed) -> bool:
    """The rules of `placement.verdicts.verdict`, as far as names and labels go."""
    affinities = entry.spec.placement.affinities or (Affinity(),)
    return any(_selects(one, freed.cluster, freed.labels) for one in affinities)


def _selects(affinity: Affinity, name: str, labels: Mapping[str, str]) -> bool:
    named = not affinity.cluster_names or name in affinity.cluster_names
    return named and name not in affinity.exclude and all(matches(one, labels) for one in affinity.labels)


def names(entry: WaitingJob, cluster: str) -> bool:
    """Whether the policy of the job names this cluster."""
    return any(cluster in one.cluster_names for one in entry.spec.placement.affinities)


class FreedRooms:
    """Freed room within one decision: as last heard of, less what those on the way there are going to take."""

    def __init__(self, view: View, now: int) -> None:
        self._view = view
        self._now = now
        self._left: dict[str, Freed] | None = None
        self._found: dict[str, str | None] = {}  # by shape

    def of(self, room: Mapping[str, Freed]) -> dict[str, Freed]:
        """What is left of these rooms; once asked for it stays, less what is taken."""
        if self._left is None:
            self._left = dict(room)
            for cluster, amounts in self._view.queued.heading.values():
                self.take(cluster, amounts)
        return self._left

    def take(self, cluster: str, amounts: Resources) -> None:
        if self._left is not None and cluster in self._left:
            self._found = {}
            self._left[cluster] = taken_of(self._left[cluster], amounts)

    def where(self, entry: WaitingJob) -> str | None:
        """The first of these rooms that is enough for one that lacks room; empty when some room is not known. None when
        there is none, or when the scheduler had none for its shape since room was last freed anywhere."""
        shape = entry.key[1]
        if self.found_none(entry):
            return None
        if shape not in self._found:
            self._found[shape] = self._enough(entry)
        return self._found[shape]

    def found_none(self, entry: WaitingJob) -> bool:
        """Whether the scheduler had no room for one of its shape since room was last freed anywhere."""
        return self._view.queued.asked.get(entry.key[1]) == self._view.freed

    def _enough(self, entry: WaitingJob) -> str | None:
        rooms = self.of(self._view.room)
        for name in sorted(rooms):
            if enough(entry, rooms[name], self._now):
                return name
        return None if self._view.all_known else ""


def taken_of(freed: Freed, amounts: Resources) -> Freed:
    """What is left of freed room once somebody is on the way to it: the next in line is not woken for the same."""
    left = {name: amount - amounts.get(name, 0) for name, amount in freed.free.items()}
    return msgspec.structs.replace(freed, free=left)
