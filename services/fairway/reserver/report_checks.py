"""What of a report is believed: an agent is its member's, and what it says decides who gets what. Pure.

A row that cannot be true is passed over, and the others stand. A cluster whose total rises far above what it was known
to have keeps what it had, until an operator has confirmed it.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from fairway.domain.batch_resources import PART_OF
from fairway.domain.resources import Resources, add, show
from fairway.runtime.views.members import NO_FACTS, Facts
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.fleet import Report

# As Kubernetes has names of nodes, keys of resources and of attempts.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_MOST_KEY = 317
# More than any node has of anything, in bytes or thousandths: sums of ten thousand of them are still exact in Lua.
_MOST_AMOUNT = 1 << 50
# A kubelet runs at most some hundred pods; so many attempts or kinds of resources has no node.
_MOST_ATTEMPTS = 4_096
_MOST_RESOURCES = 256
# Where nobody counted at the join, so long what a cluster has is taken as what it was joined with (ms): nodes of a new
# one come one after another.
SETTLING_MS = 600_000
_RISE = 2


def sound(report: Report) -> Report:
    """The report without the rows that cannot be true."""
    if all(map(_sound, report.nodes)):
        return report
    return msgspec.structs.replace(report, nodes=tuple(node for node in report.nodes if _sound(node)))


def _sound(node: Node) -> bool:
    if not _NAME.fullmatch(node.name) or len(node.attempts) > _MOST_ATTEMPTS:
        return False
    if any(len(key) > _MOST_KEY for key in node.attempts):
        return False
    amounts = (node.allocatable, node.used, *(pods.requests for pods in node.attempts.values()))
    counts = (pods.counts for pods in node.attempts.values())
    return all(map(_amounts, amounts)) and all(map(_amounts, counts))


def _amounts(given: Mapping[str, int]) -> bool:
    return len(given) <= _MOST_RESOURCES and all(0 <= amount <= _MOST_AMOUNT for amount in given.values())


def said(report: Report, facts: Facts | None) -> Report:
    """What the hub knows of a cluster is the hub's to say."""
    if facts is None:
        return report
    return msgspec.structs.replace(
        report, labels=facts.labels, taints=facts.taints, cordoned=facts.cordoned, mode=report.mode and facts.mode
    )


def believed(
    report: Report, before: Mapping[str, Node], info: ClusterInfo, facts: Facts | None, now: int
) -> tuple[Report, ClusterInfo]:
    """The report as far as it counts, and what is known of the cluster's size after it."""
    known = facts or NO_FACTS
    anew = known.confirmed > info.confirmed or not info.since
    since, base = (now, {}) if anew else (info.since, info.base)
    settling = not known.capacity and now - since < SETTLING_MS
    base = known.capacity or base
    kept = _few(report, before, known.nodes)
    total = _total(kept, before, info.total)
    risen = [] if settling else [name for name, amount in total.items() if amount > _RISE * _most(base, name)]
    if risen:
        held = _held(kept, before) if before else _within(kept, base)
        name = min(risen)
        why = f"reports {show(name, total[name])} {name}, joined with {show(name, _most(base, name))}"
        info = msgspec.structs.replace(info, since=since, base=base, confirmed=known.confirmed)
        return held, msgspec.structs.replace(info, total=_total(held, before, info.total), unconfirmed=why)
    if settling:
        base = {name: max(total.get(name, 0), base.get(name, 0)) for name in (*base, *total)}
    over = len(kept.nodes) < len(report.nodes)
    why = f"reports more than {known.nodes} nodes" if over else ""
    return kept, msgspec.structs.replace(
        info, since=since, base=base, total=total, confirmed=known.confirmed, unconfirmed=why
    )


def _most(base: Resources, name: str) -> int:
    """What a cluster may have of a resource. Batch resources come and go, within what they are a part of."""
    return max(base.get(name, 0), base.get(PART_OF.get(name, name), 0))


def to_confirm(info: ClusterInfo, facts: Facts | None) -> bool:
    """An operator has confirmed what was held back: now all of it has to be told."""
    return bool(info.unconfirmed) and facts is not None and facts.confirmed > info.confirmed


def _few(report: Report, before: Mapping[str, Node], most: int) -> Report:
    """At most so many nodes in all; those that are known stay."""
    old = {} if report.full else before
    room = most - len(old)
    if len(report.nodes) <= room:
        return report
    kept = []
    for node in sorted(report.nodes, key=lambda node: (node.name not in before, node.name)):
        if node.name in old:
            kept.append(node)
        elif room > 0:
            kept.append(node)
            room -= 1
    return msgspec.structs.replace(report, nodes=tuple(kept))


def _held(report: Report, before: Mapping[str, Node]) -> Report:
    """Nobody has more than before: who uses it is news, that there is more is not."""
    return msgspec.structs.replace(
        report, nodes=tuple(_no_more(node, before[node.name]) for node in report.nodes if node.name in before)
    )


def _within(report: Report, base: Resources) -> Report:
    """Of a cluster of which nothing is known but what it was joined with: no more than that, whichever its nodes."""
    room = base | {part: _most(base, part) for part in PART_OF}
    nodes = []
    for node in sorted(report.nodes, key=lambda node: node.name):
        amounts = {name: min(amount, room.get(name, 0)) for name, amount in node.allocatable.items()}
        room = add(room, amounts, -1)
        nodes.append(msgspec.structs.replace(node, allocatable=amounts))
    return msgspec.structs.replace(report, nodes=tuple(nodes))


def _no_more(node: Node, old: Node) -> Node:
    amounts = {name: min(amount, _most(old.allocatable, name)) for name, amount in node.allocatable.items()}
    return msgspec.structs.replace(node, allocatable=amounts)


def _total(report: Report, before: Mapping[str, Node], former: Resources) -> Resources:
    """What all nodes have together after a report: of what it does not speak of, the former sum stands."""
    if report.full:
        return _sum({}, report.nodes, 1)
    total = _sum(dict(former), report.nodes, 1)
    changed = (*(node.name for node in report.nodes), *report.gone)
    return _sum(total, (before[name] for name in dict.fromkeys(changed) if name in before), -1)


def _sum(total: Resources, nodes: Iterable[Node], sign: int) -> Resources:
    for node in nodes:
        for name, amount in node.allocatable.items():
            total[name] = total.get(name, 0) + sign * amount
    return total
