"""Rows of nodes in the capacity cache, with the holds of attempts laid over what agents report."""

from collections.abc import Container, Iterable, Mapping
from typing import Protocol

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Put
from fairway.domain.reservations import Hold, holds_of
from fairway.domain.resources import Resources
from fairway.placement.fleet import Fleet
from fairway.placement.room_sums import RoomSums
from fairway.runtime.views.members import Facts
from fairway.wire.capacity import Node


class Capacity(Protocol):
    """`members` are the clusters of the fleet by name, reported or not. Of the `ledger`, `claims` are what is kept for
    claims. `sums` are of nodes as they were last asked about: whoever asks has them follow those that he means."""

    clusters: Fleet
    ledger: dict[str, dict[str, Hold]]
    claims: dict[str, dict[str, Hold]]
    row_revs: dict[tuple[str, str], int]
    freed: Mapping[str, int]
    sums: dict[str, RoomSums]

    @property
    def facts(self) -> Mapping[str, Facts]: ...
    @property
    def members(self) -> Iterable[str]: ...
    @property
    def left(self) -> Container[str]: ...

    def node_writes(self, cluster: str, changed: Mapping[str, Hold | None]) -> list[Put]: ...


def node_writes(
    view: Capacity, cluster: str, nodes: Mapping[str, Node], changed: Mapping[str, Hold | None]
) -> list[Put]:
    """The node rows that differ once the holds of `changed` attempts are worked out anew over `nodes`. Every row is
    guarded by the revision it was read at, so that two who write one node cannot both win."""
    showing: dict[str, list[str]] = {}
    for name, node in nodes.items():
        for key in node.attempts.keys() | node.holds.keys():
            if key in changed:
                showing.setdefault(key, []).append(name)
    anew: dict[str, dict[str, Resources | None]] = {}
    for key, hold in changed.items():
        shown = {name: nodes[name] for name in showing.get(key, ())}
        wanted = holds_of(key, hold, shown)
        for name in (*shown, *(name for name in wanted if name not in shown)):
            if name in nodes:
                anew.setdefault(name, {})[key] = wanted.get(name)
    return [node_put(view, cluster, _held(nodes[name], holds)) for name, holds in anew.items()]


def _held(node: Node, anew: Mapping[str, Resources | None]) -> Node:
    """The node with these attempts' holds as they are now; of other attempts nothing changes."""
    holds = {key: amount for key, amount in node.holds.items() if key not in anew}
    holds.update((key, amount) for key, amount in anew.items() if amount)
    return msgspec.structs.replace(node, holds=holds)


def node_put(view: Capacity, cluster: str, node: Node) -> Put:
    table = decision.nodes(cluster)
    rev = view.row_revs.get((table, node.name), 0)
    return Put(table, node.name, node, rev=rev + 1, expect=rev)
