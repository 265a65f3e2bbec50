"""What attempts hold, node by node, read when somebody asks about them and kept until one of their nodes changes."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from fairway.placement.cluster import ClusterView
from fairway.placement.engine.change_log import Numbers
from fairway.placement.engine.fleet_arrays import FleetArrays
from fairway.placement.engine.node_rows import NodeRows

# Attempts that are kept: many more than one message names. 64 B a hold at eight resources.
_MOST = 1 << 16
_FEWEST_ROWS = 1 << 10
_UNREAD = -1


class HeldAmounts(NamedTuple):
    """By hold, in the order of the attempts asked about: which of these it is of, the position of the node, and the
    amounts, a row for each column of resources."""

    who: Numbers
    at: Numbers
    amounts: Numbers


class AttemptHolds:
    """`_first` of an attempt by its key `<job>/<attempt>`: where in the table its holds begin."""

    def __init__(self, arrays: FleetArrays, rows: NodeRows, views: Mapping[int, ClusterView]) -> None:
        self._arrays = arrays
        self._nodes = rows
        self._views = views
        self._table = _Table(0)
        self._first: dict[str, int] = {}
        self._clusters: dict[int, _Cluster] = {}
        self._seen = np.zeros(0, np.int64)

    def of(self, keys: Sequence[str], slots: Numbers) -> HeldAmounts:
        """What these attempts hold in the clusters of these slots (-1: in none)."""
        self._forget(slots)
        first = np.array([*map(self._first.get, keys, repeat(_UNREAD))], np.int64)
        for at in ((first == _UNREAD) & (slots >= 0)).nonzero()[0].tolist():
            first[at] = self._read(keys[at], slots.item(at))
        table = self._table
        count = np.where(first == _UNREAD, 0, table.count[first])
        who = np.repeat(np.arange(len(keys)), count)
        rows = _ranges(first, count)
        there = self._arrays.now.home[table.at[rows]] == slots[who]  # an attempt is in one cluster alone
        if not there.all():
            who = who[there]
            rows = rows[there]
        return HeldAmounts(who, table.at[rows], table.amounts.take(rows, axis=1))

    def _forget(self, slots: Numbers) -> None:
        """What was read of nodes that changed since."""
        columns = len(self._nodes.columns)
        if len(self._table.amounts) != columns or len(self._first) > _MOST:
            self._table = _Table(columns)
            self._first.clear()
            self._clusters.clear()
        elif self._table.used > 2 * self._table.kept + _FEWEST_ROWS:
            self._first = dict(zip(self._first, self._table.close_up([*self._first.values()]), strict=True))
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

    def _drop(self, keys: Iterable[str]) -> None:
        for key in keys:
            first = self._first.pop(key, _UNREAD)
            if first != _UNREAD:
                self._table.kept -= self._table.count.item(first)

    def _read(self, key: str, slot: int) -> int:
        view = self._views[slot]
        places = self._nodes.positions(slot)
        keys_on = self._clusters[slot].keys_on
        names = self._nodes.columns.by_name
        at = []
        amounts = []
        for name in sorted(view.nodes_of(key)):
            held = view.by_name[name].holds.get(key)
            if held:
                keys_on.setdefault(name, set()).add(key)
                at.append(places[name])
                amounts.append([held.get(resource, 0) for resource in names])
        if not at:  # who holds nothing here may hold something elsewhere by the time it is asked about again
            return _UNREAD
        self._first[key] = self._table.write(at, amounts)
        return self._first[key]


class _Cluster:
    """A cluster as it was read last: the version of what is free, the number of the last deeper change, and of which
    attempts something is kept of each node."""

    def __init__(self, view: ClusterView, deep: int) -> None:
        self.view = view
        self.deep = deep
        self.seen = view.version
        self.keys_on: dict[str, set[str]] = {}


class _Table:
    """Rows of holds: those of one attempt stand together, and `count` says at the first of them how many. `used` rows
    were written; `kept` of them are still somebody's."""

    def __init__(self, columns: int) -> None:
        self.at = np.zeros(_FEWEST_ROWS, np.int64)
        self.count = np.zeros(_FEWEST_ROWS, np.int64)
        self.amounts = np.zeros((columns, _FEWEST_ROWS), np.int64)
        self.used = 0
        self.kept = 0

    def write(self, at: Sequence[int], amounts: Sequence[Sequence[int]]) -> int:
        """Where they begin."""
        first = self.used
        end = first + len(at)
        while end > len(self.at):
            self.at = np.concatenate((self.at, np.zeros_like(self.at)))
            self.count = np.concatenate((self.count, np.zeros_like(self.count)))
            self.amounts = np.concatenate((self.amounts, np.zeros_like(self.amounts)), axis=1)
        self.at[first:end] = at
        self.count[first] = len(at)
        self.amounts[:, first:end] = np.array(amounts).T
        self.used = end
        self.kept += len(at)
        return first

    def close_up(self, firsts: Sequence[int]) -> list[int]:
        """Leaves out the rows that are nobody's: where those that begin there begin now."""
        first = np.array(firsts, np.int64)
        count = self.count[first]
        rows = _ranges(first, count)
        moved = np.cumsum(count) - count
        self.used = self.kept = len(rows)
        self.at[: self.used] = self.at[rows]
        self.amounts[:, : self.used] = self.amounts[:, rows]
        self.count[moved] = count
        begins: list[int] = moved.tolist()
        return begins


def _ranges(first: Numbers, count: Numbers) -> Numbers:
    """So many rows from each first one on."""
    rows: Numbers = np.arange(count.sum()) + np.repeat(first - np.cumsum(count) + count, count)
    return rows
