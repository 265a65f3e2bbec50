"""Who may evict whom by priority, which nodes give back what is reclaimed, and what nodes keep for themselves: as the
auditor works them out, by nothing that those who decide use. Pure."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from fairway.domain.preemption.levels import ActiveJob
from fairway.domain.quota.node_terms import preemption_terms, withheld
from fairway.domain.quota.tree import QuotaNode, leaf_named


class Rank(Struct, frozen=True):
    """What counts of a job: the `domain` in which it evicts by priority (None: in none), its priority and its level."""

    domain: str | None
    priority: int
    level: int

    def over(self, victim: "Rank") -> bool:
        same = self.domain is not None and self.domain == victim.domain
        return same and self.priority > victim.priority and self.level >= victim.level


def rank_of(tree: QuotaNode | None, job: ActiveJob, level: int) -> Rank:
    """Of one whose leaf is not in the tree, as of a fleet without one."""
    terms = preemption_terms((leaf_named(tree, job.leaf) if tree is not None else None) or ())
    return Rank(terms.domain if terms.by_priority else None, job.priority, level)


def giving_back(own: Sequence[str], victim: Sequence[str]) -> list[str]:
    """The nodes above a victim that are not above who reclaims as well."""
    return [node for node in victim if node not in own]


def counted(node: QuotaNode, name: str, used: Callable[[str], int]) -> int:
    """What counts of a resource at a node, by what is `used` of it at each path: children that keep a part of their min
    for themselves count as that much at least."""
    more = 0
    for child in node.children:
        here = counted(child, name, used)
        more += max(here, withheld(child).get(name, here)) - used(child.path)
    return used(node.path) + more
