"""When an object of the hub is submitted: at once, if nothing that may still be on its way decides what becomes of it.

Objects applied in one breath come through watches of their own: a policy, a queue or a priority class may come a moment
after the job that needs it, and has to reach admission before it. Pure.
"""

from collections.abc import Callable

from fairway.workloads.hub.objects import HubObject

# Objects of one file follow each other within some 20 ms; ten times that for a busy hub.
SETTLE_MS = 250


class SubmissionDelay:
    """`named` says whether a policy selects an object by its name, `in_force` whether the hub has a setting of that
    kind and name."""

    def __init__(self, named: Callable[[HubObject], bool], in_force: Callable[[str, str], bool]) -> None:
        self._named = named
        self._in_force = in_force
        self.since: dict[str, int] = {}

    def ripe_at(self, one: HubObject, settings_changed: int, now: int) -> int:
        """When it may be submitted; both times and the answer in ms."""
        seen = self.since.setdefault(one.uid, now)
        if now >= seen + SETTLE_MS or not self._complete(one):
            return seen + SETTLE_MS
        return min(settings_changed + SETTLE_MS, seen + SETTLE_MS)

    def submitted(self, one: HubObject) -> None:
        self.since.pop(one.uid, None)

    def _complete(self, one: HubObject) -> bool:
        """Everything that it names is here. What it refers to may be applied anew in the same breath."""
        if one.refers or not self._named(one):
            return False
        return all(self._in_force(kind, name) for kind, name in one.settings)
