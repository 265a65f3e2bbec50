"""Whether a gang fits in one cluster while candidates go and come back."""

from collections.abc import Sequence

from msgspec.structs import replace

from fairway.placement.cluster import ClusterView
from fairway.placement.fit import Plan, Shortfall, place
from fairway.placement.relief.room.node_room import MILLION, NodeRoom
from fairway.placement.shapes import Ask
from fairway.wire.preemption.evictions import Candidates


class GangRoom:
    """Each part of the gang is counted for itself. Several have to fit together, too, which is tried on a copy of the
    cluster."""

    def __init__(self, parts: Sequence[NodeRoom], together: "CopiedCluster | None") -> None:
        self.parts = parts
        self.together = together

    @property
    def enough(self) -> bool:
        if any(part.missing for part in self.parts):
            return False
        return self.together is None or isinstance(self.together.placed(), Plan)

    @property
    def missing(self) -> int:
        """Pods without room, at least."""
        return sum([part.missing for part in self.parts])

    def move(self, candidate: int, sign: int) -> None:
        for part in self.parts:
            part.move(candidate, sign)
        if self.together is not None:
            self.together.move(candidate, sign)

    def beside(self, candidate: int) -> dict[int, None]:
        return {who: None for part in self.parts for who in part.beside(candidate)}

    def share(self, candidate: int) -> tuple[int, int]:
        """How much of what is needed and still missing it would give, in millionths; and whatever it gives at all. As
        others go, it never gives more of it, but for who holds some of the same nodes."""
        needed = given = 0
        for part in self.parts:
            share = part.share(candidate)
            given += share
            if part.missing:
                needed += min(share, MILLION * part.missing) // part.needed
        return needed, given

    @property
    def holders(self) -> dict[int, None]:
        """Who holds something on nodes where pods of the gang may be."""
        return {who: None for part in self.parts for who in part.holds}

    def loss(self, candidate: int) -> int:
        return sum([part.loss(candidate) for part in self.parts])


class CopiedCluster:
    """A cluster without those that are gone; the fleet's own stays as it is."""

    def __init__(self, view: ClusterView, candidates: Candidates, asked: Ask) -> None:
        self._view = view
        self._copy = view.copy()
        self._candidates = candidates
        self._asked = asked
        self._gone: dict[str, set[str]] = {}
        self._changed: set[str] = set()
        self._placed = place(self._copy, asked)

    def move(self, candidate: int, sign: int) -> None:
        key = self._candidates.attempts[candidate]
        if self._candidates.cluster_of(candidate) != self._view.name:
            return
        for name in self._view.nodes_of(key):
            gone = self._gone.setdefault(name, set())
            (gone.add if sign > 0 else gone.discard)(key)
            self._changed.add(name)

    def placed(self) -> Plan | Shortfall:
        if self._changed:
            for name in sorted(self._changed):
                node = self._view.by_name[name]
                gone = self._gone[name]
                self._copy.put(replace(node, holds={key: held for key, held in node.holds.items() if key not in gone}))
            self._changed.clear()
            self._placed = place(self._copy, self._asked)
        return self._placed
