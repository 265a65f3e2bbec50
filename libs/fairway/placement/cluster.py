"""One cluster as placement sees it: what the service loop keeps current and decisions only read."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from fairway.domain.reservations import left_on
from fairway.domain.resources import Resources, add, scale
from fairway.placement.attempt_nodes import AttemptNodes
from fairway.placement.change_journal import Journal, Shift, Watch
from fairway.placement.constraints import same_facts
from fairway.wire.capacity import ClusterInfo, Node, Slot

if TYPE_CHECKING:
    from fairway.placement.engine.engine import Engine


# The slots of a placement, and what one pod of each pod set asks for.
Assumed = tuple[Sequence[Slot], Mapping[str, Resources]]


def taken(slots: Iterable[Slot], requests_of: Mapping[str, Mapping[str, int]], on: str = "") -> dict[str, Resources]:
    """What slots take per node, or on one, with one of `pods` per pod: the amounts to write as a node's `holds`."""
    total: dict[str, Resources] = {}
    for slot in slots:
        if on and slot.node != on:
            continue
        one = scale(requests_of[slot.pods], slot.count)
        one["pods"] = slot.count
        total[slot.node] = add(total.get(slot.node, {}), one)
    return total


class ClusterView:
    """Nodes and assumed placements of one cluster. Every method costs what the touched nodes cost; engines catch up
    when they are next asked."""

    def __init__(self, info: ClusterInfo) -> None:
        self._info = info
        self._nodes: dict[str, Node] = {}
        self._sorted = True
        self._assumed: dict[str, Assumed] = {}
        self._keys_on: dict[str, dict[str, None]] = {}
        self._carried = AttemptNodes()
        self._shown = AttemptNodes()
        self._journal = Journal()
        self._engine: Engine | None = None
        self._watches: list[Watch] = []

    @property
    def info(self) -> ClusterInfo:
        return self._info

    @info.setter
    def info(self, info: ClusterInfo) -> None:
        self._info = info
        for one in self._watches:
            one.infos.add(self.name)

    @property
    def name(self) -> str:
        return self._info.name

    @property
    def version(self) -> int:
        """Grows with every change of what is free."""
        return self._journal.version

    def changes(self, version: int) -> tuple[Mapping[str, None] | None, Mapping[str, None] | None]:
        """The nodes that changed after this version, and those of them that changed in more than what is free or
        came or went; None: too many to tell, or never told."""
        return self._journal.changed(version), self._journal.deep(version)

    def watch(self, one: Watch) -> None:
        """From now on its sets are told of changes here."""
        self._watches.append(one)

    def unwatch(self, one: Watch) -> None:
        self._watches = [kept for kept in self._watches if kept is not one]

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Every node, in the order of names."""
        if not self._sorted:
            self._nodes = dict(sorted(self._nodes.items()))
            self._sorted = True
        return MappingProxyType(self._nodes)

    @property
    def by_name(self) -> Mapping[str, Node]:
        """Every node, in any order."""
        return self._nodes

    def free(self, name: str) -> Resources:
        """What is free on a node: allocatable - used - holds - placements assumed but not yet seen. Negative where
        it is overcommitted."""
        assumed = [self._assumed[key] for key in self._keys_on.get(name, ())]
        return left_on(self._nodes[name], [taken(*one, name)[name] for one in assumed])

    def put(self, node: Node) -> None:
        """Add a node or replace it. An assumed placement whose key the node carries in `holds` is now seen:
        it is dropped on the whole cluster, so that it counts once (the reserver may have moved it)."""
        name = node.name
        old = self._nodes.get(name)
        self._carry(name, old, node)
        for key in node.holds:
            self.drop(key, seen_on=name)
        if old is None:
            self._sorted = False
        self._nodes[name] = node
        self._changed((name,), deep=old is None or not same_facts(old, node))

    def remove(self, name: str) -> None:
        """The node is gone; assumed placements on it stay until seen or dropped."""
        old = self._nodes.pop(name, None)
        if old:
            self._carry(name, old, None)
            self._changed((name,), deep=True)

    def hold(self, key: str, slots: tuple[Slot, ...], requests_of: Mapping[str, Resources]) -> None:
        """Assume a placement that the cache does not show yet; `key` is `<job>/<attempt>` as in `holds`.

        A second hold with the same key replaces the first; one that the nodes already carry changes nothing.
        """
        self.drop(key)
        if key in self._carried:
            return
        self._assumed[key] = slots, requests_of
        for slot in slots:
            self._keys_on.setdefault(slot.node, {})[key] = None
        self._shift(slots, requests_of, -1)

    def drop(self, key: str, seen_on: str = "") -> None:
        """Forget an assumed placement, if there is one."""
        if key not in self._assumed:
            return
        slots, requests_of = self._assumed.pop(key)
        for name in {slot.node for slot in slots}:
            keys = self._keys_on[name]
            del keys[key]
            if not keys:
                del self._keys_on[name]
        if seen_on:
            # Its other nodes are most likely put next, with the same room as now: they are read then, and nobody counts
            # them twice for nothing.
            others = {slot.node: None for slot in slots if slot.node != seen_on and slot.node in self._nodes}
            self._changed(others, deep=False)
        else:
            self._shift(slots, requests_of, 1)

    def copy(self) -> "ClusterView":
        """The same cluster for who tries something out: what changes there changes nothing here."""
        copy = ClusterView(self._info)
        for node in self.nodes.values():
            copy.put(node)
        for key, (slots, requests_of) in self._assumed.items():
            copy.hold(key, tuple(slots), requests_of)
        return copy

    def nodes_of(self, key: str) -> set[str]:
        """The nodes whose `holds` or `attempts` name this attempt."""
        return self._carried.of(key) | self._shown.of(key)

    def engine(self) -> "Engine":
        """An engine of this cluster alone, current; for who asks about one cluster of many."""
        from fairway.placement.engine.engine import Engine

        if self._engine is None:
            watch = Watch()
            self.watch(watch)
            self._engine = Engine({self.name: self}, watch)
        elif self._engine.worn:
            self._engine = Engine({self.name: self}, self._engine.watch)
        self._engine.refresh()
        return self._engine

    def _changed(self, names: Iterable[str], deep: bool) -> None:
        self._note(names, deep)
        for one in self._watches:
            one.nodes.add(self.name)

    def _note(self, names: Iterable[str], deep: bool) -> None:
        # Beyond this many changes a full recount is cheaper than reading them.
        keep = 4 * len(self._nodes) + 64
        for name in names:
            self._journal.add(name, deep, keep)

    def _shift(self, slots: Sequence[Slot], requests_of: Mapping[str, Resources], sign: int) -> None:
        """These pods are assumed from now on (-1), or no more (1)."""
        known = [slot for slot in slots if slot.node in self._nodes]
        if known:
            before = self.version
            self._note({slot.node: None for slot in known}, deep=False)
            for one in self._watches:
                if not one.shift(self, before, Shift(known, requests_of, sign)):
                    one.nodes.add(self.name)

    def _carry(self, name: str, old: Node | None, new: Node | None) -> None:
        self._carried.renew(name, old.holds if old else {}, new.holds if new else {})
        self._shown.renew(name, old.attempts if old else {}, new.attempts if new else {})
