"""What changed since: each reader keeps a version and asks for the names that changed after it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fairway.domain.resources import Resources
from fairway.wire.capacity import Slot

if TYPE_CHECKING:
    from fairway.placement.cluster import ClusterView


class Journal:
    """Names of changed nodes, oldest first; `deep` ones changed in more than what is free on them.

    Beyond a bound the past is forgotten; a reader who is that far behind gets None and starts from nothing.
    """

    __slots__ = ("_deep", "_deep_from", "_from", "_names", "version")

    def __init__(self) -> None:
        self.version = 0
        self._from = self._deep_from = 0
        self._names: list[str] = []
        self._deep: list[tuple[int, str]] = []

    def add(self, name: str, deep: bool, keep: int) -> None:
        """Note a change, keeping at most `keep` of each sort, and of more than that the newest half: a reader who comes
        often never has to start from nothing."""
        if len(self._names) >= keep:
            past = len(self._names) - keep // 2
            self._from += past
            del self._names[:past]
        if deep and len(self._deep) >= keep:
            past = len(self._deep) - keep // 2
            self._deep_from = self._deep[past - 1][0]
            del self._deep[:past]
        self._names.append(name)
        self.version += 1
        if deep:
            self._deep.append((self.version, name))

    def changed(self, version: int) -> dict[str, None] | None:
        """The nodes that changed after this version, as ordered keys."""
        if version < self._from:
            return None
        return dict.fromkeys(self._names[version - self._from :])

    def deep(self, version: int) -> dict[str, None] | None:
        """Those of them with new labels, taints, sizes, or that came or went."""
        if version < self._deep_from:
            return None
        if not self._deep or self._deep[-1][0] <= version:
            return {}
        return {name: None for at, name in self._deep if at > version}


class Shift(NamedTuple):
    """Pods that take what they request from now on (`sign` -1), or give it back (1)."""

    slots: Sequence[Slot]
    requests_of: Mapping[str, Resources]
    sign: int


class Watch:
    """Names of clusters whose nodes changed and of those whose info was replaced, for whoever watches many; `members`
    when clusters came or went. Who reads it empties it. `shift` is told at once of pods that come and go, with the
    cluster and the version that it had before, and says whether that is all that it has to know."""

    __slots__ = ("infos", "members", "nodes", "shift")

    def __init__(self) -> None:
        self.nodes: set[str] = set()
        self.infos: set[str] = set()
        self.members = False
        self.shift: Callable[[ClusterView, int, Shift], bool] = lambda *_: False
