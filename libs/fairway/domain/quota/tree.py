"""The quota tree as a value, and the two static questions asked of it: whose is a job, could it ever fit."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from fairway.domain.resources import Resources, show
from fairway.wire.reasons import Code, Reason

# Counts jobs that were dequeued and have not ended, instead of what they request (ack-kube-queue).
MAX_JOBS = "kube-queue/max-jobs"
# On a job, either names its leaf and wins over the namespace (Koordinator; ACK).
QUOTA_LABELS = ("quota.scheduling.koordinator.sh/name", "quota.scheduling.alibabacloud.com/name")
# Attribute of a node, annotation of a Queue: namespaces whose jobs may name the leaves below (the Queue), besides those
# that a leaf has anyway; separated by commas. Of several nodes the one nearest to the leaf counts.
ALLOW_NAMESPACES = "fairway.io/allow-namespaces"


class QuotaNode(Struct, frozen=True, omit_defaults=True):
    """One node of an ElasticQuotaTree.

    `path` starts at `root`, such as `root/research/vision`. `min` is guaranteed and `max` never exceeded,
    both in base units; a resource that is not in `max` has no limit. Only leaves have namespaces. The value
    was validated as a whole: min <= max, the children's min within the node's, each child's max within the
    node's.
    """

    name: str
    path: str
    min: Resources = {}
    max: Resources = {}
    namespaces: tuple[str, ...] = ()
    attributes: dict[str, str] = {}
    children: tuple["QuotaNode", ...] = ()


QuotaPath = tuple[QuotaNode, ...]


class _Index(Struct, frozen=True):
    """The first leaf of each namespace, and the first of each name or path."""

    tree: QuotaNode
    by_namespace: dict[str, QuotaPath]
    by_name: dict[str, QuotaPath]


# By identity: a tree is never changed. It is kept with what was found in it, so that no other one gets its id.
_trees: dict[int, _Index] = {}
_MOST_TREES = 8


def leaves(tree: QuotaNode) -> Iterator[QuotaPath]:
    """Every leaf as its path of nodes, root first, in the order of the tree."""
    stack: list[QuotaPath] = [(tree,)]
    while stack:
        path = stack.pop()
        if not path[-1].children:
            yield path
        stack.extend((*path, child) for child in reversed(path[-1].children))


def attributes(path: QuotaPath) -> dict[str, str]:
    """Those that count for the last node of a path: its own before those above it."""
    return {name: value for node in path for name, value in node.attributes.items()}


def leaf_named(tree: QuotaNode, name: str) -> QuotaPath | None:
    """The nodes root..leaf of the leaf of this name or path."""
    return _index(tree).by_name.get(name)


def listed(text: str) -> tuple[str, ...]:
    """The names in a text that separates them by commas."""
    return tuple(name for part in text.split(",") if (name := part.strip()))


def leaf_of(tree: QuotaNode, namespace: str, labels: Mapping[str, str]) -> QuotaPath | None:
    """The nodes root..leaf that a job says or its namespace is charged to, or None when it belongs to no leaf; whether
    it may say so, `allowed.charged_leaf` knows.

    A label that names no leaf is None too: to fall back to the namespace would charge somebody else.
    """
    named = next((labels[label] for label in QUOTA_LABELS if labels.get(label)), "")
    if named:
        return leaf_named(tree, named)
    return _index(tree).by_namespace.get(namespace)


def _index(tree: QuotaNode) -> _Index:
    """Every job asks for leaves, of the one tree that is in force."""
    known = _trees.get(id(tree))
    if known is None:
        if len(_trees) >= _MOST_TREES:
            _trees.clear()
        known = _trees[id(tree)] = _Index(tree, {}, {})
        for path in leaves(tree):
            leaf = path[-1]
            for namespace in leaf.namespaces:
                known.by_namespace.setdefault(namespace, path)
            for name in (leaf.name, leaf.path):
                known.by_name.setdefault(name, path)
    return known


def ever_guaranteed(path: QuotaPath, request: Mapping[str, int]) -> Reason | None:
    """None when the min of every node has `request`, else why it is never guaranteed: the first node whose min is less.
    What a node has neither in min nor in max it does not count; jobs as such cannot be guaranteed."""
    amounts = sorted((name, amount) for name, amount in request.items() if name != MAX_JOBS)
    for node in path:
        for name, amount in amounts:
            least = node.min.get(name, 0)
            if amount > least and (name in node.min or name in node.max):
                return Reason(
                    Code.EXCEEDS_MIN_QUOTA,
                    f"may not be evicted and asks for {show(name, amount)} {name}, but the min of quota {node.path} is "
                    f"{show(name, least)}: what is above it is borrowed, and can be taken back",
                    remedy=f"leave out its label preemptible, ask for less, or have the min of {node.path} raised",
                )
    return None


def ever_fits(path: QuotaPath, request: Mapping[str, int]) -> Reason | None:
    """None when `request` fits an empty tree, else why it never can: the first node whose max is less."""
    amounts = sorted({**request, MAX_JOBS: 1}.items())
    for node in path:
        for name, amount in amounts:
            if amount > node.max.get(name, amount):
                return Reason(
                    Code.EXCEEDS_MAX_QUOTA,
                    f"asks for {show(name, amount)} {name}, but the max of quota {node.path} "
                    f"is {show(name, node.max[name])}",
                    remedy=f"ask for less, or have the max of {node.path} raised",
                )
    return None
