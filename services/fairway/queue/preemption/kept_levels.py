"""The levels of active jobs: worked out when somebody asks, and kept while nothing changes below their node."""

from collections.abc import Iterator, Sequence

from sortedcontainers import SortedList

from fairway.domain.preemption.levels import GUARANTEED, SPARE, ActiveJob, Passed, in_order, own_share, within
from fairway.domain.quota.tree import QuotaNode, leaf_named
from fairway.domain.resources import Resources

# The last is the id of a job.
Place = tuple[int, int, str]


class KeptLevels:
    def __init__(self) -> None:
        self._jobs: dict[str, ActiveJob] = {}
        self._in_leaf: dict[str, SortedList[Place]] = {}
        self._passed: dict[str, Passed] = {}
        self._shares: dict[str, Resources] = {}
        self._tree: QuotaNode | None = None

    def add(self, job: ActiveJob, path: Sequence[str]) -> None:
        """`path` are the nodes from the root to its leaf."""
        self._jobs[job.id] = job
        add_to(self._in_leaf, job.leaf, job.place)
        self._forget(path)

    def remove(self, job: ActiveJob, path: Sequence[str]) -> None:
        del self._jobs[job.id]
        take_from(self._in_leaf, job.leaf, job.place)
        self._forget(path)

    def _forget(self, path: Sequence[str]) -> None:
        for node in path:
            self._passed.pop(node, None)

    def under(self, tree: QuotaNode | None) -> None:
        """They are of this tree from now on."""
        if tree is not self._tree:
            self._tree = tree
            self._passed.clear()
            self._shares.clear()

    def guarantor(self, name: str) -> QuotaNode | None:
        """The node in whose guaranteed share the job is; None: in none's."""
        job = self._jobs.get(name)
        path = leaf_named(self._tree, job.leaf) if job is not None and self._tree is not None else None
        for node in reversed(path or ()):
            if self._share(node) and name in self._pass(node).taken:
                return node
        return None

    def level(self, name: str) -> int:
        return GUARANTEED if self.guarantor(name) is not None else SPARE

    def _share(self, node: QuotaNode) -> Resources:
        if node.path not in self._shares:
            self._shares[node.path] = own_share(node)
        return self._shares[node.path]

    def _pass(self, node: QuotaNode) -> Passed:
        known = self._passed.get(node.path)
        if known is None:
            known = self._passed[node.path] = within(self._share(node), self._ordered(node))
        return known

    def _ordered(self, node: QuotaNode) -> Iterator[ActiveJob]:
        if node.children:
            return in_order([self._pass(child).left for child in node.children])
        return (self._jobs[place[-1]] for place in self._in_leaf.get(node.path, ()))


def add_to(lists: dict[str, SortedList[Place]], leaf: str, place: Place) -> None:
    if leaf not in lists:
        lists[leaf] = SortedList()
    lists[leaf].add(place)


def take_from(lists: dict[str, SortedList[Place]], leaf: str, place: Place) -> None:
    lists[leaf].remove(place)
    if not lists[leaf]:
        del lists[leaf]
