"""Which nodes name an attempt: so that nobody looks through a whole cluster for the few that do."""

from collections.abc import Mapping


class AttemptNodes:
    """Names of nodes by the key of an attempt, kept as the nodes change."""

    def __init__(self) -> None:
        self._nodes: dict[str, set[str]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._nodes

    def of(self, key: str) -> set[str]:
        return self._nodes.get(key, set())

    def renew(self, name: str, old: Mapping[str, object], new: Mapping[str, object]) -> None:
        """Node `name` named the attempts of `old` and names those of `new`."""
        if old is new:
            return
        for key in new.keys() - old.keys():
            self._nodes.setdefault(key, set()).add(name)
        for key in old.keys() - new.keys():
            nodes = self._nodes[key]
            nodes.remove(name)
            if not nodes:
                del self._nodes[key]
