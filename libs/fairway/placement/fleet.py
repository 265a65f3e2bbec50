"""The clusters of a fleet by name, and beside them what choices keep from one to the next."""

from collections import UserDict
from collections.abc import Mapping

from fairway.placement.change_journal import Watch
from fairway.placement.cluster import ClusterView
from fairway.placement.engine.engine import Engine


class Fleet(UserDict[str, ClusterView]):
    """A dictionary of clusters that choices are made on. Each is known by its own name. What a choice needs is kept
    by what changed: it costs nothing before the first one."""

    def __init__(self, clusters: Mapping[str, ClusterView] | None = None) -> None:
        self._watch = Watch()
        self._engine: Engine | None = None
        super().__init__(clusters)

    def __setitem__(self, name: str, view: ClusterView) -> None:
        self.pop(name, None)
        super().__setitem__(name, view)
        view.watch(self._watch)
        self._watch.members = True

    def __delitem__(self, name: str) -> None:
        self.data[name].unwatch(self._watch)
        super().__delitem__(name)
        self._watch.members = True

    def engine(self) -> Engine:
        """What is kept, current."""
        if self._engine is None or self._engine.worn:
            self._engine = Engine(self.data, self._watch)
        self._engine.refresh()
        return self._engine
