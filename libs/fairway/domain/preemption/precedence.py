"""Who may evict whom: the one relation by which victims are chosen, looked at again and judged. Pure.

From evictor to victim the level never grows, and between jobs of one level the priority falls. Levels and priorities do
not depend on who runs, so nobody evicts whom he was evicted by, over however many others.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct


class Party(Struct, frozen=True):
    """What counts of a job: the paths of the nodes from the root to its leaf, the `domain` in which priorities are
    compared (None: it takes no part in that), its priority and its level."""

    leaf: tuple[str, ...]
    domain: str | None
    priority: int
    level: int


def by_priority(one: Party, victim: Party) -> bool:
    """Equal priority never evicts; neither does a job whose level is lower, whatever its priority."""
    if one.domain is None or one.domain != victim.domain:
        return False
    return one.priority > victim.priority and one.level >= victim.level


def lenders(one: Sequence[str], victim: Sequence[str]) -> tuple[str, ...]:
    """The nodes that would give back what a job of the path `one` gets of a victim's: the victim's leaf, and those
    above it below the first node that both have; none for jobs of one leaf."""
    common = 0
    for mine, other in zip(one, victim, strict=False):
        if mine != other:
            break
        common += 1
    return tuple(reversed(victim[common:]))


def by_reclaim(one: Party, victim: Party, over: Callable[[str], bool]) -> bool:
    """For one that is within its guarantor's min with what it asks for (`claims.within_min`). `over` says whether a
    node is over its min before the victim goes, in a resource that is asked back."""
    nodes = lenders(one.leaf, victim.leaf)
    return bool(nodes) and one.level > victim.level and all(over(node) for node in nodes)
