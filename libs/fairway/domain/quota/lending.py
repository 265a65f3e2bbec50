"""Lend limits: what nodes keep of their min for themselves counts as used at the nodes above, used or not. Pure."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.node_terms import LEND_LIMIT, withheld
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources, show
from fairway.wire.reasons import Code, Reason

# By identity: a tree is never changed. It is kept with what was found in it, so that no other one gets its id.
_found: dict[int, tuple[QuotaNode, frozenset[str]]] = {}
_MOST_TREES = 8


def keepers(tree: QuotaNode) -> frozenset[str]:
    """The paths of the nodes that keep something back, and of those above them."""
    known = _found.get(id(tree))
    if known is None:
        if len(_found) >= _MOST_TREES:
            _found.clear()
        names: set[str] = set()
        _collect(tree, names)
        known = _found[id(tree)] = (tree, frozenset(names))
    return known[1]


def _collect(node: QuotaNode, found: set[str]) -> bool:
    below = [_collect(child, found) for child in node.children]
    keeps = any(below) or (LEND_LIMIT in node.attributes and bool(withheld(node)))
    if keeps:
        found.add(node.path)
    return keeps


def kept_back(
    path: Sequence[QuotaNode], usage: Mapping[str, int], asks: Resources, claimed: Mapping[str, int] | None = None
) -> dict[str, int]:
    """By quota key of the nodes of a path: what counts there beside what is used and what claims keep, once this is
    asked for below. A node counts as max(used and claimed, min - what it lends) at the node above it."""
    keeping = keepers(path[0]) if path else None
    if not keeping:
        return {}
    counting = _Counting(frozenset(node.path for node in path), keeping, usage, claimed or {})
    for name, amount in asks.items():
        if amount:
            counting.below(path[0], name, amount)
    return counting.found


def never_lent(path: Sequence[QuotaNode], asks: Resources) -> Reason | None:
    """Why an empty tree would not take this: what others keep back for themselves leaves too little of a max."""
    kept = kept_back(path, {}, asks)
    for node in path if kept else ():
        for name, amount in sorted(asks.items()):
            back = kept.get(quota_key(node.path, name), 0)
            if back and amount + back > node.max.get(name, amount + back):
                text = (
                    f"asks for {show(name, amount)} {name}, but of the max of quota {node.path}, which is "
                    f"{show(name, node.max[name])}, {show(name, back)} are kept by those below that do not lend it"
                )
                remedy = f"ask for less, or have lend limits below {node.path} raised"
                return Reason(Code.EXCEEDS_MAX_QUOTA, text, remedy=remedy)
    return None


class _Counting(Struct):
    """`own` are the nodes of the path, `keeping` those that keep something back, or have such below."""

    own: frozenset[str]
    keeping: frozenset[str]
    usage: Mapping[str, int]
    claimed: Mapping[str, int]
    found: dict[str, int] = field(default_factory=dict)

    def below(self, node: QuotaNode, name: str, amount: int) -> int:
        """What counts at the node as more than it uses; `amount` is asked for in the leaf of the path."""
        more = 0
        for child in node.children:
            if child.path in self.keeping:
                within = self.below(child, name, amount)
                asked = amount if child.path in self.own else 0
                key = quota_key(child.path, name)
                used = self.usage.get(key, 0) + self.claimed.get(key, 0) + within + asked
                more += within + max(0, withheld(child).get(name, 0) - used)
        if node.path in self.own:
            self.found[quota_key(node.path, name)] = more
        return more
