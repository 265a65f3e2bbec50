"""The pods of the hub that say that they are of a gang. A part of the memory."""

from fairway.workloads.gangs.found_gang import POD, FoundGang, FoundPod, found_gang, found_pod, gang_of
from fairway.workloads.gangs.limits import MOST_PODS
from fairway.workloads.hub.objects import HubObject, cleaned
from fairway.workloads.references import Reference


class KnownGangs:
    """`pods` are those that are to start or do, by uid. Each gang is made once of them, and anew when one changes."""

    def __init__(self) -> None:
        self.pods: dict[str, FoundPod] = {}
        self._gangs: dict[Reference, dict[str, FoundPod]] = {}
        self._made: dict[Reference, FoundGang] = {}

    def get(self, gang: Reference) -> FoundGang | None:
        pods = self._gangs.get(gang)
        if not pods:
            return None
        if gang not in self._made:
            self._made[gang] = found_gang(gang, pods.values())
        return self._made[gang]

    def see(self, one: HubObject, counts: bool) -> tuple[Reference, ...]:
        """A pod as it is now, or that does not count any more. Returns the gangs that are others by that: one more pod
        of too many is no other gang."""
        gang = gang_of(one.manifest) if counts and one.kind == POD else None
        new = found_pod(gang, one.manifest, cleaned(one.manifest)) if gang is not None else None
        before = self.pods.get(one.uid)
        if before is not None and new is not None and (before.gang, before.digest) == (new.gang, new.digest):
            return ()
        left = self._drop(before) if before is not None else ()
        return (*left, *(self.take(new) if new is not None else ()))

    def _drop(self, one: FoundPod) -> tuple[Reference, ...]:
        pods = self._gangs[one.gang]
        del self.pods[one.uid]
        del pods[one.uid]
        if len(pods) > MOST_PODS:
            return ()
        self._made.pop(one.gang, None)
        if not pods:
            del self._gangs[one.gang]
        return (one.gang,)

    def take(self, one: FoundPod) -> tuple[Reference, ...]:
        pods = self._gangs.setdefault(one.gang, {})
        self.pods[one.uid] = one
        pods[one.uid] = one
        if len(pods) > MOST_PODS + 1:
            return ()
        self._made.pop(one.gang, None)
        return (one.gang,)
