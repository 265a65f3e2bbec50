"""Which values a label may have: names of the settings, and of what others say only so many."""

from fairway.domain.quota.assignment import DEFAULT_QUEUE
from fairway.domain.quota.tree import leaves
from fairway.runtime.views.settings import Catalog
from fairway.wire.fleet import Configured

# Of a job that never had one.
NONE = "none"
# In the place of all names that are not in the settings, or beyond so many.
OTHER = "other"


class SettingsNames:
    """Queues and clusters by the names that the settings have now. Without settings, all are others."""

    def __init__(self, catalog: Catalog | None = None) -> None:
        self._catalog = catalog
        self._queues: frozenset[str] = frozenset()
        self._old = catalog is not None
        if catalog is not None:
            catalog.taken.followers.append(self._heard)

    def _heard(self, said: Configured) -> None:
        self._old = self._old or said.kind in ("Queue", "ElasticQuotaTree")

    @property
    def queues(self) -> frozenset[str]:
        """Of Queue objects, and of the leaves of the quota tree, which are queues too."""
        if self._old and self._catalog is not None:
            self._old = False
            tree = self._catalog.tree
            of_tree = [path[-1].name for path in leaves(tree)] if tree is not None else []
            self._queues = frozenset((*self._catalog.queues, *of_tree, DEFAULT_QUEUE))
        return self._queues

    @property
    def clusters(self) -> dict[str, dict[str, str]]:
        return self._catalog.members.clusters if self._catalog is not None else {}

    def queue(self, name: str) -> str:
        if not name:
            return NONE
        return name if name in self.queues else OTHER

    def cluster(self, name: str) -> str:
        if not name:
            return NONE
        return name if name in self.clusters else OTHER

    def is_queue(self, label: str) -> bool:
        return label in (NONE, OTHER) or label in self.queues

    def is_cluster(self, label: str) -> bool:
        return label in (NONE, OTHER) or label in self.clusters


class Bounded:
    """The first `most` values as they are; all others are one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def value(self, text: str) -> str:
        if text in self._known:
            return text
        if len(self._known) >= self._most:
            return OTHER
        self._known.add(text)
        return text
