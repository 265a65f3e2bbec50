"""Who is within a guaranteed share, as the auditor works it out: from all jobs anew, and by nothing that those who
decide use. A fault in theirs would otherwise be his as well. Pure.
"""

from collections.abc import Iterable, Sequence

from fairway.domain.preemption.levels import MOST_LEFT, MOST_TAKEN, ActiveJob
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources


def guarantors(tree: QuotaNode | None, jobs: Iterable[ActiveJob]) -> dict[str, str]:
    """The path of the node in whose share each guaranteed job is, by the job's id: first of its leaf, then of the nodes
    above it, the nearest first."""
    found: dict[str, str] = {}
    if tree is not None:
        in_leaf: dict[str, list[ActiveJob]] = {}
        for job in sorted(jobs, key=_rank):
            in_leaf.setdefault(job.leaf, []).append(job)
        _fill(tree, in_leaf, found)
    return found


def _rank(job: ActiveJob) -> tuple[int, int, str]:
    """The highest priority first, then who waits longest."""
    return (-job.priority, job.enqueued_at, job.id)


def _fill(node: QuotaNode, in_leaf: dict[str, list[ActiveJob]], found: dict[str, str]) -> list[ActiveJob]:
    """Who is left to the nodes above, in order."""
    waiting = in_leaf.get(node.path, [])
    if node.children:
        waiting = sorted((job for child in node.children for job in _fill(child, in_leaf, found)), key=_rank)
    share = _beyond_children(node)
    names: list[str] = []
    left: list[ActiveJob] = []
    for job in waiting:
        asks = {name: amount for name, amount in job.asks.items() if name in share and amount}
        if asks and len(names) < MOST_TAKEN and all(share[name] >= amount for name, amount in asks.items()):
            share = {name: amount - asks.get(name, 0) for name, amount in share.items()}
            names.append(job.id)
        else:
            left.append(job)
        if len(left) == MOST_LEFT:
            break
    found.update(dict.fromkeys(names, node.path))
    return left


def _beyond_children(node: QuotaNode) -> Resources:
    """What a node guarantees beyond what its children do. The root of a tree with children guarantees nothing."""
    if node.children and "/" not in node.path:
        return {}
    share = {name: amount - _sum(name, node.children) for name, amount in node.min.items()}
    return {name: amount for name, amount in share.items() if amount > 0}


def _sum(name: str, nodes: Sequence[QuotaNode]) -> int:
    return sum(node.min.get(name, 0) for node in nodes)
