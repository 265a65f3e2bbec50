"""Whose turn it is among leaves, where the quota tree says that shares decide (`fairway.io/order`). Pure."""

from collections.abc import Iterable, Iterator

from fairway.domain.preemption.levels import GUARANTEED
from fairway.domain.quota.fair_order import LeafHead, first, in_turn
from fairway.domain.quota.node_terms import BY_SHARE, order
from fairway.queue.order import QueueOrder
from fairway.queue.waiting.waiting_job import WaitingJob


def by_share(turn: QueueOrder) -> bool:
    return order(turn.view.tree) == BY_SHARE


def head_of(turn: QueueOrder, entry: WaitingJob) -> LeafHead:
    job = entry.job
    leaf = job.leaf[-1] if job.leaf else ""
    guaranteed = turn.active.levels.level(job.id) == GUARANTEED
    return LeafHead(_name(entry), leaf, entry.request, -entry.place[0], guaranteed, entry.place[1:3])


def _name(entry: WaitingJob) -> str:
    """One that may have batch resources stands for those, too."""
    return f"{entry.job.id} {entry.lacks}"


def ordered(turn: QueueOrder, entries: Iterable[WaitingJob]) -> list[WaitingJob]:
    """All of them, as they would go one after the other."""
    known = {_name(entry): entry for entry in entries}
    tree = turn.view.tree
    if tree is None or len(known) < 2:
        return [*known.values()]
    return [known[head.name] for head in in_turn(tree, [head_of(turn, one) for one in known.values()], turn.usage)]


def one_by_one(turn: QueueOrder, groups: Iterable[Iterator[WaitingJob]]) -> Iterator[WaitingJob]:
    """The next one of all groups, when it is known what became of the last; a group ends with one that its quota does
    not take. Whose turn it is not, as of one behind the head of its queue, stands before nobody."""
    heads: dict[str, tuple[WaitingJob, Iterator[WaitingJob]]] = {}
    for group in groups:
        _advance(heads, group)
    while heads:
        entry, group = heads.pop(_next(turn, [one for one, _ in heads.values()]))
        yield entry
        if entry.job.id in turn.gone or turn.barred(entry):
            _advance(heads, group)


def _advance(heads: dict[str, tuple[WaitingJob, Iterator[WaitingJob]]], group: Iterator[WaitingJob]) -> None:
    entry = next(group, None)
    if entry is not None:
        heads[_name(entry)] = (entry, group)


def _next(turn: QueueOrder, entries: list[WaitingJob]) -> str:
    """The id of the one whose turn it is: in each leaf the first, among leaves by share."""
    by_leaf: dict[str, WaitingJob] = {}
    for one in entries:
        leaf = one.job.leaf[-1] if one.job.leaf else ""
        if leaf not in by_leaf or one.place < by_leaf[leaf].place:
            by_leaf[leaf] = one
    tree = turn.view.tree
    assert tree is not None, "it says the order"
    found = first(tree, {leaf: head_of(turn, one) for leaf, one in by_leaf.items()}, turn.usage)
    assert found is not None, "there are heads"
    return found.name
