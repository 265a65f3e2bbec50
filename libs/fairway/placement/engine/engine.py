"""All that is kept of a fleet between two choices, each part brought up to date when it is asked about, by what changed
since."""

from collections.abc import Mapping, Sequence

from fairway.placement.change_journal import Shift, Watch
from fairway.placement.cluster import ClusterView
from fairway.placement.engine.attempt_holds import AttemptHolds
from fairway.placement.engine.change_log import Numbers
from fairway.placement.engine.enrolled_clusters import EnrolledClusters
from fairway.placement.engine.fleet_arrays import FleetArrays
from fairway.placement.engine.gangs import GangsAsked
from fairway.placement.engine.node_rows import NodeRows
from fairway.placement.engine.policies import PolicyRules
from fairway.placement.engine.shape_counts import ShapeCounts
from fairway.placement.loops.layout import Arrays, GangAsked, ShapeAsked
from fairway.placement.policy_rules import Rules, WantedClusters
from fairway.placement.shapes import Demand, Shape


class Engine:
    """`watch` is told what changes in these clusters."""

    def __init__(self, views: Mapping[str, ClusterView], watch: Watch) -> None:
        self._views = views
        self.watch = watch
        self._arrays = FleetArrays()
        self.rows = NodeRows(self._arrays)
        self.clusters = EnrolledClusters(self.rows)
        self.shapes = ShapeCounts(self._arrays, self.rows, self.clusters.views)
        self.attempts = AttemptHolds(self._arrays, self.rows, self.clusters.views)
        self._policies = PolicyRules()
        self._gangs = GangsAsked()
        watch.members = True
        watch.shift = self._shift

    @property
    def worn(self) -> bool:
        """More than half of it is of clusters that left or outgrew their place: time for a new one."""
        return 2 * self.rows.wasted > self.rows.used + 1024

    @property
    def arrays(self) -> Arrays:
        return self._arrays.now

    def refresh(self) -> None:
        """Reads what the watch was told since."""
        watch = self.watch
        slots = self.clusters.slots
        if watch.members:
            watch.nodes.update(self.clusters.enrol(self._views))
            watch.infos.update(self._views)
            self._policies = PolicyRules({slots[name]: view.info for name, view in self._views.items()})
            watch.members = False
        if watch.nodes:
            self.rows.follow({slots[name]: self._views[name] for name in sorted(watch.nodes & slots.keys())})
            watch.nodes.clear()
        if watch.infos:
            for name in watch.infos & slots.keys():
                info = self._views[name].info
                self.clusters.observed[slots[name]] = info.observed_at
                self._policies.inform(slots[name], info)
            watch.infos.clear()

    def counts(self, shapes: Sequence[Shape]) -> list[ShapeAsked]:
        """These shapes, current."""
        return self.shapes.of(shapes)

    def gang(self, demand: Demand) -> tuple[GangAsked, list[ShapeAsked]]:
        """A gang of several shapes, and these, current; nobody else's by the time another one is asked for."""
        shapes = self.counts([part.shape for part in demand.parts])
        return self._gangs.of(demand, shapes, self.arrays, self.rows.largest), shapes

    def changed(self, shape: Shape) -> tuple[ShapeAsked, Numbers]:
        """This shape, and the positions at which it is not counted yet."""
        return self.shapes.changed(shape)

    def rules(self, wanted: WantedClusters) -> Rules:
        """What these rules say to every cluster, current."""
        return self._policies.of(wanted)

    def _shift(self, view: ClusterView, version: int, change: Shift) -> bool:
        slot = self.clusters.slots.get(view.name, -1)
        known = self.clusters.views.get(slot) is view
        return known and self.rows.shift(slot, version, change, view.version)
