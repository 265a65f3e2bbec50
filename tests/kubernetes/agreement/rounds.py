"""One try of many gangs at once: which of their pods have a node, and whether more may be expected."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from tests.kubernetes.agreement.manifests import Place
from tests.kubernetes.agreement.placement import Said
from tests.kubernetes.agreement.watching import PodNow

Json = dict[str, Any]
Key = tuple[str, str]
# Of what a scheduler says against a pod: it may name every node.
_LONGEST = 300


class Try(Struct, frozen=True):
    """A gang's pods; at least `due` of them get a node if Fairway is right."""

    place: Place
    pods: tuple[Json, ...]
    due: int

    @property
    def keys(self) -> list[Key]:
        return [key_of(pod) for pod in self.pods]

    def decided(self, seen: Mapping[Key, PodNow]) -> bool:
        """What is due is there, and each of the others was refused. That alone says little: a scheduler refuses pods
        also because it has not heard of a node yet, and tries them again."""
        found = [seen[key] for key in self.keys if key in seen]
        bound = sum(bool(one.node) for one in found)
        return len(found) == len(self.pods) and bound >= self.due and all(one.node or one.refused for one in found)

    def came_to(self, seen: Mapping[Key, PodNow]) -> "Came":
        found = [seen.get(key, PodNow("", "", "is not there")) for key in self.keys]
        words = sorted({one.refused[:_LONGEST] or "is not decided" for one in found if not one.node})
        return Came(sum(bool(one.node) for one in found), tuple(words))


class Came(Struct, frozen=True):
    """How many pods got a node, and what was said last against the others."""

    bound: int = 0
    against: tuple[str, ...] = ()


def planned(said: Iterable[tuple[Place, Said]]) -> list[Try]:
    """Every gang that fits, each pod on the node that was planned for it."""
    return [Try(one, tuple(one.planned(what.slots)), one.case.pods) for one, what in said if what.fits]


def free(said: Iterable[tuple[Place, Said]]) -> list[Try]:
    """Every gang, as its scheduler likes; but see `_stops_others`."""
    return [Try(one, tuple(one.free()), _due(one, what)) for one, what in said if not _stops_others(one)]


def _stops_others(place: Place) -> bool:
    """Volcano 1.10 places pods without requests by themselves (its action backfill). It may try one again and again on
    a node that has as many pods as it takes, and once no node takes one it tries no other of the whole cluster: cases
    would touch each other."""
    return place.scheduler == "volcano" and place.case.asks_nothing


def _due(place: Place, said: Said) -> int:
    """Pods of several shapes may be put where the last of them finds no room: then nothing is due. Nor is a part of a
    gang where the scheduler knows that it is one."""
    if said.fits:
        return place.case.pods if said.shapes == 1 else 0
    return said.by_node if said.exact and place.scheduler == "kube-scheduler" else 0


def key_of(manifest: Json) -> Key:
    return manifest["metadata"]["namespace"], manifest["metadata"]["name"]
