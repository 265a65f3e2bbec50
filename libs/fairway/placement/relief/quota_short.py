"""The quota that is short, and what each candidate gives back of it."""

import numpy as np

from fairway.placement.engine.change_log import Numbers
from fairway.placement.relief.room.node_room import MILLION
from fairway.placement.relief.room.shape_room import Mask
from fairway.wire.preemption.evictions import Relieve


class QuotaShort:
    """`short` by node and resource, as they are named in `keys`; `gives` by candidate and key."""

    def __init__(self, asked: Relieve) -> None:
        needs = {key: amount for key, amount in asked.short.items() if amount > 0}
        self.keys = tuple(sorted(needs))
        self.short = [needs[key] for key in self.keys]
        candidates = asked.candidates
        self.gives = np.zeros((len(candidates.attempts), len(self.keys)), np.int64)
        path = np.array(candidates.path, np.int64)
        for at, key in enumerate(self.keys):
            node, _, resource = key.rpartition("|")
            within = np.array([*[node in path for path in asked.paths], False], np.bool_)  # the last: it has no path
            if resource in candidates.charge:
                self.gives[:, at] = np.where(within[path], np.array(candidates.charge[resource], np.int64), 0)

    @property
    def resources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.rpartition("|")[2] for key in self.keys))

    def left(self, may: Mask) -> list[int]:
        """What is still short of each if all of these went."""
        given: Numbers = self.gives[may].sum(axis=0)
        return [max(0, short - back) for short, back in zip(self.short, given.tolist(), strict=True)]


class QuotaGiven:
    """What those that go in one try give back."""

    def __init__(self, quota: QuotaShort) -> None:
        self._quota = quota
        self.left = list(quota.short)

    @property
    def enough(self) -> bool:
        return all(left <= 0 for left in self.left)

    def move(self, candidate: int, sign: int) -> None:
        gives = self._quota.gives[candidate].tolist()
        self.left = [left - sign * amount for left, amount in zip(self.left, gives, strict=True)]

    def share(self, candidate: int) -> int:
        """How much of what is short it would give, in millionths."""
        gives = self._quota.gives[candidate].tolist()
        several = zip(gives, self.left, self._quota.short, strict=True)
        return sum([MILLION * min(amount, left) // short for amount, left, short in several if left > 0])

    def lacks(self, candidate: int) -> bool:
        """Whether quota were short if this one, which goes, stayed."""
        gives = self._quota.gives[candidate].tolist()
        return any(left + amount > 0 for left, amount in zip(self.left, gives, strict=True))
