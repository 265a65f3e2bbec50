"""What attempts hold, node by node, read when somebody asks about them and kept until one of their nodes changes."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from fairway.placement.cluster import ClusterView
from fairway.placement.engine.change_log import Numbers
from fairway.placement.engine.fleet_arrays import FleetArrays
from fairway.placement.engine.node_rows import NodeRows

# Attempts that are kept: many more than one message names. 64 B a hold at eight resources.
_MOST = 1 << 16
_FEWEST_ROWS = 1 << 10


class HeldAmounts(NamedTuple):
    """By hold, in the order of the attempts asked about: which of these it is of, the position of the node, and the
    amounts, a row for each column of resources."""

    who: Numbers
    at: Numbers
    amounts: Numbers


class AttemptHolds:
    """`_rows` of an attempt by its key `<job>/<attempt>`: where among the amounts its holds are."""

    def __init__(self, arrays: FleetArrays, rows: NodeRows, views: Mapping[int, ClusterView]) -> None:
        self._arrays = arrays
        self._nodes = rows
        self._views = views
        self._table = _Table(0)
        self._rows: dict[str, tuple[int, ...]] = {}
        self._clusters: dict[int, _Cluster] = {}
        self._seen = np.zeros(0, np.int64)

    def of(self, keys: Sequence[str], slots: Numbers) -> HeldAmounts:
        """What these attempts hold in the clusters of these slots (-1: in none)."""
        self._forget(slots)
        read = self._rows
        for at, key in enumerate(keys):
            if key not in read and slots[at] >= 0:
                self._read(key, slots.item(at))
        found = [read.get(key, ()) for key in keys]
        who = np.repeat(np.arange(len(keys)), np.array(list(map(len, found)), np.int64))
        rows = np.array(list(chain.from_iterable(found)), np.int64)
        there = self._arrays.now.home[self._table.at[rows]] == slots[who]  # an attempt is in one cluster alone
        if not there.all():
            who = who[there]
            rows = rows[there]
        return HeldAmounts(who, self._table.at[rows], self._table.amounts.take(rows, axis=1))

    def _forget(self, slots: Numbers) -> None:
        """What was read of nodes that changed since."""
        columns = len(self._nodes.columns)
        if len(self._table.amounts) != columns or len(self._rows) > _MOST:
            self._table = _Table(columns)
            self._rows.clear()
            self._clusters.clear()
        now = self._arrays.now.changed
        if len(self._seen) != len(now):
            self._seen = np.full(len(now), -1, np.int64)
        asked = np.zeros(len(now), np.bool_)
        asked[slots[slots >= 0]] = True
        for slot in (asked & (self._seen != now)).nonzero()[0].tolist():
            self._catch_up(slot)
        self._seen[asked] = now[asked]

    def _catch_up(self, slot: int) -> None:
        view = self._views[slot]
        cluster = self._clusters.get(slot)
        deep = self._arrays.now.deep.item(slot)
        changed = view.changes(cluster.seen)[0] if cluster is not None else None
        if cluster is None or changed is None or cluster.view is not view or cluster.deep != deep:
            self._drop(() if cluster is None else list(chain.from_iterable(cluster.keys_on.values())))
            self._clusters[slot] = _Cluster(view, deep)
            return
        for name in changed:
            # Who holds something there since, or does no more, is read anew.
            self._drop([*cluster.keys_on.pop(name, ()), *(view.by_name[name].holds if name in view.by_name else ())])
        cluster.seen = view.version

    def _drop(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._table.unused.extend(self._rows.pop(key, ()))

    def _read(self, key: str, slot: int) -> None:
        view = self._views[slot]
        places = self._nodes.positions(slot)
        keys_on = self._clusters[slot].keys_on
        rows: list[int] = []
        for name in sorted(view.nodes_of(key)):
            held = view.by_name[name].holds.get(key)
            if held:
                keys_on.setdefault(name, set()).add(key)
                amounts = [held.get(resource, 0) for resource in self._nodes.columns.by_name]
                rows.append(self._table.write(places[name], amounts))
        if rows:  # who holds nothing here may hold something elsewhere by the time it is asked about again
            self._rows[key] = tuple(rows)


class _Cluster:
    """A cluster as it was read last: the version of what is free, the number of the last deeper change, and of which
    attempts something is kept of each node."""

    def __init__(self, view: ClusterView, deep: int) -> None:
        self.view = view
        self.deep = deep
        self.seen = view.version
        self.keys_on: dict[str, set[str]] = {}


class _Table:
    """Rows of holds, some of them unused."""

    def __init__(self, columns: int) -> None:
        self.at = np.zeros(_FEWEST_ROWS, np.int64)
        self.amounts = np.zeros((columns, _FEWEST_ROWS), np.int64)
        self.unused = list(range(_FEWEST_ROWS))

    def write(self, position: int, amounts: Sequence[int]) -> int:
        """Where it is written."""
        if not self.unused:
            size = len(self.at)
            self.at = np.concatenate((self.at, np.zeros_like(self.at)))
            self.amounts = np.concatenate((self.amounts, np.zeros_like(self.amounts)), axis=1)
            self.unused.extend(range(size, 2 * size))
        row = self.unused.pop()
        self.at[row] = position
        self.amounts[:, row] = amounts
        return row
