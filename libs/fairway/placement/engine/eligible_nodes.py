"""The nodes of a fleet that pods of one `Where` may be on."""

from collections.abc import Mapping

from fairway.placement.cluster import ClusterView
from fairway.placement.constraints import admits
from fairway.placement.engine.fleet_arrays import FleetArrays
from fairway.placement.engine.node_rows import NodeRows
from fairway.placement.loops.layout import CLOSED, KEPT_OUT, OPEN
from fairway.placement.shapes import Where


class EligibleNodes:
    """Row `e` of `open`, kept current: a node is judged again only when more than its free amounts changed."""

    def __init__(self, where: Where, e: int, arrays: FleetArrays) -> None:
        self.where = where
        self.e = e
        self._arrays = arrays
        self._seen = -1
        self._known: dict[int, _Judged] = {}
        arrays.hold(eligible=e + 1)
        arrays.now.summed[e] = -1

    def refresh(self, views: Mapping[int, ClusterView], rows: NodeRows) -> None:
        """Of clusters that left nothing is kept."""
        deep = self._arrays.now.deep
        for slot in (deep > self._seen).nonzero()[0].tolist():
            if slot not in views:
                self._known.pop(slot, None)
                continue
            judged = self._known.get(slot)
            if judged is None or judged.view is not views[slot]:
                judged = self._known[slot] = _Judged(views[slot])
            judged.refresh(self.where)
            names = rows.names[slot]
            start = self._arrays.now.start[slot]
            self._arrays.now.open[self.e, start : start + len(names)] = [judged.codes[name] for name in names]
        self._seen = rows.version


class _Judged:
    """The nodes of one cluster by name, as they were in the version that was read last."""

    def __init__(self, view: ClusterView) -> None:
        self.view = view
        self.codes: dict[str, int] = {}
        self._seen = -1

    def refresh(self, where: Where) -> None:
        nodes = self.view.by_name
        _, deep = self.view.changes(self._seen)
        if deep is None:
            self.codes.clear()
        for name in nodes if deep is None else deep:
            if name in nodes:
                self.codes[name] = _code(*admits(where, nodes[name]))
            else:
                self.codes.pop(name, None)
        self._seen = self.view.version


def _code(now: bool, for_good: bool) -> int:
    return (OPEN if now else CLOSED) if for_good else KEPT_OUT
