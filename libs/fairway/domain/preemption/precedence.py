"""Who may evict whom: by priority, or because a node gives back what it has borrowed. Pure.

From evictor to victim the level never grows, and between jobs of one level the priority falls. Levels and priorities do
not depend on who runs, so nobody evicts whom he was evicted by, over however many others. The queue names by this whom
a claim may have; the scheduler chooses among them, as long as their nodes are over their min; the auditor has a
relation of his own (`audit/evictions/relation.py`).
"""

from collections.abc import Sequence

from msgspec import Struct


class Party(Struct, frozen=True):
    """What counts of a job: the `domain` in which priorities are compared (None: it takes no part in that), its
    priority and its level."""

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
    above it below the first node that both have; none for jobs of one leaf. Each has to be over its min before the
    victim goes, in a resource that is asked back."""
    common = 0
    for mine, other in zip(one, victim, strict=False):
        if mine != other:
            break
        common += 1
    return tuple(reversed(victim[common:]))
