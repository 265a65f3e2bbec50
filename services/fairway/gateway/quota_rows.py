"""The quota tree and its use, as rows that are shown."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from fairway.domain.quota.borrowing import NodeBalance, Unbacked, balances, unbacked
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources, add
from fairway.gateway.http.answers import ClusterRow


class QuotaRow(Struct, frozen=True):
    """One node of the tree. A resource that `max` does not list is not limited here. `borrowed` is what it uses above
    its min, `lent` what of its min others use, `share` its share of what is above mins, in millionths of the fleet by
    its weight (-1: it has some, and weight 0). On the root `not_backed` are resources of which the clusters have less
    than the mins below it add up to."""

    path: str
    used: Resources = {}
    min: Resources = {}
    max: Resources = {}
    namespaces: tuple[str, ...] = ()
    borrowed: Resources = {}
    lent: Resources = {}
    share: int = 0
    not_backed: dict[str, Unbacked] = {}


def used_by_node(counters: Mapping[str, int]) -> dict[str, Resources]:
    """The quota counters (`<node>|<resource>`) by node, zeros left out."""
    used: dict[str, Resources] = {}
    for key, amount in counters.items():
        node, _, resource = key.rpartition("|")
        if amount:
            used.setdefault(node, {})[resource] = amount
    return used


def quota_rows(tree: QuotaNode | None, usage: Mapping[str, int], fleet: Resources | None = None) -> list[QuotaRow]:
    """The tree from its root down; then nodes that are charged though the tree has lost them. `fleet` is what its
    clusters have for jobs (None: nobody knows)."""
    used = used_by_node(usage)
    rows: list[QuotaRow] = []
    known: dict[str, NodeBalance] = balances(tree, usage) if tree else {}
    stack = [tree] if tree else []
    while stack:
        node = stack.pop()
        one = known[node.path]
        short = unbacked(node, fleet) if node is tree and fleet is not None else {}
        given = (used.get(node.path, {}), node.min, node.max, node.namespaces)
        rows.append(QuotaRow(node.path, *given, one.borrowed, one.lent, one.share, short))
        stack.extend(reversed(node.children))
    return rows + [QuotaRow(path, used[path]) for path in sorted(used) if path not in known]


def live_fleet(clusters: Iterable[ClusterRow]) -> Resources:
    """What clusters that were heard of have beside what others' pods request."""
    fleet: Resources = {}
    for row in clusters:
        if not row.stale:
            fleet = add(add(fleet, row.allocatable), row.used, -1)
    return fleet
