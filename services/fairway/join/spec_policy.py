"""Which fields of an applied job's spec Fairway's account may change, as expressions (CEL): those that the kind's
operator takes over in place. All else in it stays as it was, and so do entries of lists, which are known by name."""

from collections.abc import Iterable, Mapping

from fairway.join.policy_parts import UPDATES, Validation

# By API group and resource, the paths below `spec` that may change.
OpenPaths = Mapping[tuple[str, str], Iterable[tuple[str, ...]]]
VARIABLES = {
    "spec": "object == null ? {} : object.?spec.orValue({})",
    "specBefore": "oldObject == null ? {} : oldObject.?spec.orValue({})",
}
_KIND = "request.resource.resource + '.' + request.resource.group"
# What goes on where a path does; nothing follows a field that may change.
_Tree = dict[str, "_Tree"]


def specs(open_paths: OpenPaths) -> list[Validation]:
    """One that is for all kinds, and one for each of which something may change."""
    trees = {f"{resource}.{group}": _tree(paths) for (group, resource), paths in sorted(open_paths.items())}
    trees = {kind: tree for kind, tree in trees.items() if tree}
    same = f"{UPDATES} || variables.spec == variables.specBefore"
    found: list[Validation] = [
        (f"{same} || {_KIND} in {list(trees)}", "'Fairway changes no spec of what was applied'"),
    ]
    for kind, tree in trees.items():
        may = _same("variables.spec", "variables.specBefore", tree, 0)
        said = "'of what was applied Fairway changes only what its operator takes over while it runs'"
        found.append((f"{same} || {_KIND} != '{kind}' || ({may})", said))
    return found


def _tree(paths: Iterable[tuple[str, ...]]) -> _Tree:
    tree: _Tree = {}
    for path in paths:
        here = tree
        for step in path[1:]:
            here = here.setdefault(step, {})
    return tree


def _same(new: str, old: str, tree: _Tree, depth: int) -> str:
    """Whether two mappings are the same but for what may change in them."""
    key = f"k{depth}"
    names = sorted(tree)
    parts = [
        # A server may write out what is false by default.
        f"{new}.all({key}, {key} in {names} || {new}[{key}] == ({key} in {old} ? {old}[{key}] : false))",
        f"{old}.all({key}, {key} in {names} || {key} in {new})",
    ]
    for name in names:
        below = tree[name]
        empty = "[]" if "*" in below else "{}"
        pair = (f"{new}[?'{name}'].orValue({empty})", f"{old}[?'{name}'].orValue({empty})")
        if "*" in below:
            parts.append(_same_list(*pair, below["*"], depth + 1))
        elif below:
            parts.append(_same(*pair, below, depth + 1))
    return " && ".join(parts)


def _same_list(new: str, old: str, tree: _Tree, depth: int) -> str:
    one = f"n{depth}"
    other = f"o{depth}"
    same = f"{one}[?'name'] == {other}[?'name'] && {_same(one, other, tree, depth)}"
    return f"size({new}) == size({old}) && {new}.all({one}, {old}.exists({other}, {same}))"
