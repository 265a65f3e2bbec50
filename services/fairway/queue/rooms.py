"""Whether freed room could hold a job, and what is left of it when one is on the way there. Pure."""

from collections.abc import Mapping

import msgspec

from fairway.domain.resources import Resources
from fairway.queue.book import Entry
from fairway.wire.fleet import Freed


def enough(entry: Entry, freed: Freed) -> bool:
    """Whether the freed room could hold the gang by its sums; what it takes node by node is the scheduler's to say."""
    total, largest = entry.least
    return _within(total, freed.free) and _within(largest, freed.largest)


def taken_of(freed: Freed, amounts: Resources) -> Freed:
    """What is left of freed room once somebody is on the way to it: the next in line is not woken for the same."""
    left = {name: amount - amounts.get(name, 0) for name, amount in freed.free.items()}
    return msgspec.structs.replace(freed, free=left)


def _within(need: Resources, have: Mapping[str, int]) -> bool:
    return all(amount <= have.get(name, 0) for name, amount in need.items() if amount)
