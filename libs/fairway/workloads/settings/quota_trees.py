"""ElasticQuotaTree objects (scheduling.sigs.k8s.io/v1beta1), read and judged as a whole.

A tree is taken whole or not at all; every reason names the path of its node. A resource that is absent from
`max`, or as large as the scheduler's "no limit" (2^31-1 cores or pieces, 2^63-1 bytes), has no limit.
root.min and root.max must agree in the resources that both name.
"""

from typing import Any

from msgspec.structs import replace

from fairway.domain.quota.tree import MAX_JOBS, QuotaNode
from fairway.domain.resources import LARGEST, Resources, show
from fairway.workloads.reading.fields import Field, read_root, shown
from fairway.workloads.reading.names import is_label_value, is_namespace
from fairway.workloads.reading.pods import read_amounts
from fairway.workloads.settings.quota.attributes import read_attributes

API_VERSION = "scheduling.sigs.k8s.io/v1beta1"
KIND = "ElasticQuotaTree"
ROOT = "root"
_NO_LIMIT = 2**31 - 1
_BYTES = ("memory", "storage")
# The CRD has the same bounds: what its rules cost is reckoned with the largest tree it takes.
MOST_CHILDREN = 64
MOST_NAMED = 24
# Deeper than any organisation; it bounds the recursion below.
_DEEPEST = 20


def read_quota_tree(manifest: dict[str, Any], in_force: bool = False) -> QuotaNode:
    """The root of a valid tree. Raises Refused with the path of every bad node. `in_force`: it was taken before, by
    this version or an earlier one, which had less to ask."""
    top = read_root(manifest, API_VERSION, KIND)
    reader = _Reader(in_force)
    root = top["spec"]["root"]
    if not root.mapping():
        root.wrong("is missing", "describe the tree under spec.root")
    tree = reader.node(root, (), ROOT)
    for name in sorted(set(tree.min) & set(tree.max)):
        if tree.min[name] != tree.max[name]:
            _bad(root, ROOT, f"min {show(name, tree.min[name])} {name} is not max {show(name, tree.max[name])}")
    top.problems.stop()
    return tree


def _bad(field: Field, path: str, text: str, remedy: str = "correct the numbers of this node") -> None:
    field.wrong(f"quota {path}: {text}", remedy)


class _Reader:
    """One pass over a tree, remembering names and namespaces."""

    def __init__(self, in_force: bool) -> None:
        self.in_force = in_force
        self.names: dict[str, str] = {}
        self.namespaces: dict[str, str] = {}

    def node(self, field: Field, above: tuple[str, ...], name: str) -> QuotaNode:
        path = "/".join((*above, name))
        children = self.children(field["children"], (*above, name))
        node = QuotaNode(
            name=name,
            path=path,
            min=self.least(field["min"], path),
            max=_most(field["max"]),
            namespaces=self.spaces(field["namespaces"], path, bool(children)),
            attributes=field["attributes"].strings(),
            children=children,
        )
        self.named(field, name, path)
        _within_itself(field, node)
        _children_within(field, node)
        return replace(node, attributes=read_attributes(field["attributes"], node, self.in_force))

    def children(self, field: Field, above: tuple[str, ...]) -> tuple[QuotaNode, ...]:
        entries = field.items(MOST_CHILDREN)
        if entries and len(above) >= _DEEPEST:
            _bad(field, "/".join(above), f"is nested deeper than {_DEEPEST} nodes", "flatten the tree")
            return ()
        return tuple(self.node(entry, above, self.name(entry["name"], above)) for entry in entries)

    def name(self, field: Field, above: tuple[str, ...]) -> str:
        name = field.text()
        if not name or not is_label_value(name):
            text = f"a child is named {shown(field.value)}"
            _bad(field, "/".join(above), text, "use at most 63 letters, digits, -, _ and .")
        return name

    def named(self, field: Field, name: str, path: str) -> None:
        if name in self.names:
            _bad(field, path, f"has the name of {self.names[name]}", "give every node its own name")
        self.names[name] = path

    def least(self, field: Field, path: str) -> Resources:
        amounts = read_amounts(field, MOST_NAMED)
        if amounts.pop(MAX_JOBS, None) is not None:
            _bad(field[MAX_JOBS], path, f"{MAX_JOBS} cannot be guaranteed", "move it to max")
        return amounts

    def spaces(self, field: Field, path: str, inner: bool) -> tuple[str, ...]:
        spaces = field.texts()
        if spaces and inner:
            _bad(field, path, "has both namespaces and children", "keep namespaces on leaves only")
        for entry, space in zip(field.items(), spaces, strict=True):
            if not is_namespace(space):
                _bad(entry, path, f"{shown(space)} is not a namespace name", "correct or remove it")
            elif space in self.namespaces:
                _bad(
                    entry,
                    path,
                    f"namespace {space} is already in {self.namespaces[space]}",
                    "keep it in one leaf",
                )
            self.namespaces[space] = path
        return spaces


def _most(field: Field) -> Resources:
    return {name: amount for name, amount in read_amounts(field, MOST_NAMED).items() if amount < _no_limit(name)}


def _no_limit(name: str) -> int:
    """The amount from which on a max means none."""
    if name.startswith("hugepages-") or any(word in name for word in _BYTES):
        return LARGEST
    return _NO_LIMIT * 1000 if name == "cpu" else _NO_LIMIT


def _within_itself(field: Field, node: QuotaNode) -> None:
    for name, amount in sorted(node.min.items()):
        if amount > node.max.get(name, amount):
            _bad(field, node.path, f"min {show(name, amount)} {name} is above max {show(name, node.max[name])}")


def _children_within(field: Field, node: QuotaNode) -> None:
    total: Resources = {}
    for child in node.children:
        for name, amount in child.min.items():
            total[name] = total.get(name, 0) + amount
        for name, amount in sorted(child.max.items()):
            if amount > node.max.get(name, amount):
                text = f"max {show(name, amount)} {name} is above {show(name, node.max[name])} of {node.path}"
                _bad(field, child.path, text)
    for name, amount in sorted(total.items()):
        if amount > node.min.get(name, 0):
            own = show(name, node.min.get(name, 0))
            _bad(
                field,
                node.path,
                f"its children's min add up to {show(name, amount)} {name}, above its own {own}",
            )
