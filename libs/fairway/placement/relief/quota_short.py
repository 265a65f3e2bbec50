"""The quota that is short, and what each candidate gives back of it."""

from collections.abc import Sequence

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
        self.gives = np.zeros((len(asked.candidates), len(self.keys)), np.int64)
        for at, key in enumerate(self.keys):
            node, _, resource = key.rpartition("|")
            within = [node in path for path in asked.paths]
            gives = [_given(within, one.path, one.charge.get(resource, 0)) for one in asked.candidates]
            self.gives[:, at] = gives

    @property
    def resources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.rpartition("|")[2] for key in self.keys))

    def left(self, may: Mask) -> list[int]:
        """What is still short of each if all of these went."""
        given: Numbers = self.gives[may].sum(axis=0)
        return [max(0, short - back) for short, back in zip(self.short, given.tolist(), strict=True)]


def _given(within: Sequence[bool], path: int, charge: int) -> int:
    return charge if 0 <= path < len(within) and within[path] else 0


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
