"""Who may go by reclaim: only while each quota node that lends to it is over its min, in a resource that the job
lacks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairway.placement.engine.attempt_holds import HeldAmounts
from fairway.placement.engine.change_log import Numbers
from fairway.placement.relief.room.shape_room import Mask
from fairway.wire.preemption.evictions import Relieve


class Reclaimable:
    """`amounts` by candidate and resource; a lender's `chain` are the quota nodes from itself upwards, and `over` says
    by lender and resource how far it is over its min before anybody goes."""

    def __init__(self, asked: Relieve, lacking: Sequence[str], holdings: HeldAmounts, columns: dict[str, int]) -> None:
        """Of the resources that may be `lacking`, those that may be had by the job's guaranteed share."""
        lacks = dict.fromkeys(lacking)
        self.resources = tuple([name for name in lacks if name in asked.reclaimable])
        self.over = [[one.over.get(name, 0) for name in self.resources] for one in asked.lenders]
        self.chains = [_chain(asked, lender) for lender in range(len(asked.lenders))]
        self.amounts = np.zeros((len(asked.candidates.attempts), len(self.resources)), np.int64)
        for at, name in enumerate(self.resources):
            self.amounts[:, at] = _amounts(asked, name, holdings, columns)

    def may(self, lender: Numbers) -> Mask:
        """By candidate and resource: whether it may go first of all, by reclaim."""
        free = [
            [all(self.over[one][at] > 0 for one in chain) for at in range(len(self.resources))] for chain in self.chains
        ]
        table = np.array([*free, [False] * len(self.resources)], np.bool_).reshape(len(free) + 1, len(self.resources))
        may: Mask = table[lender] & (self.amounts > 0)
        return may


def _chain(asked: Relieve, lender: int) -> list[int]:
    chain: list[int] = []
    while lender >= 0 and lender not in chain:
        chain.append(lender)
        lender = asked.lenders[lender].above
    return chain


def _amounts(asked: Relieve, name: str, holdings: HeldAmounts, columns: dict[str, int]) -> Numbers:
    """What each candidate has of it: by its charge, or else by what it holds."""
    if name in asked.candidates.charge:
        return np.array(asked.candidates.charge[name], np.int64)
    held = np.zeros(len(asked.candidates.attempts), np.int64)
    if name in columns:
        np.add.at(held, holdings.who, holdings.amounts[columns[name]])
    return held


class _Gone(NamedTuple):
    """Whose going counts at a lender: by the resource for which they go, what each has of it, and what all of them have
    of every resource."""

    own: list[list[int]]
    all: list[list[int]]


class Reclaimed:
    """Those that go by reclaim in one try, resource after resource in these `turns`, and of each the smallest first:
    with one resource they may go in that order if they may in any. `refused` says whether one could not go since
    others did."""

    def __init__(self, rights: Reclaimable, lender: Numbers) -> None:
        self._rights = rights
        self._lender = lender
        self.turns: Sequence[int] = range(len(rights.resources))
        self._gone = [
            _Gone([[] for _ in self.turns], [[0 for _ in self.turns] for _ in self.turns]) for _ in rights.chains
        ]
        self._by: dict[int, int] = {}
        self.refused = False

    def add(self, candidate: int, resources: Sequence[int]) -> bool:
        """It goes by one of these resources, if any lets it."""
        amounts = self._rights.amounts[candidate].tolist()
        for resource in self.turns:
            if resource not in resources or amounts[resource] <= 0:
                continue
            self._count(candidate, resource, amounts)
            if all(self._stands(one) for one in self._rights.chains[self._lender.item(candidate)]):
                self._by[candidate] = resource
                return True
            self._uncount(candidate, resource, amounts)
        self.refused = True
        return False

    def drop(self, candidate: int) -> None:
        if candidate in self._by:
            amounts = self._rights.amounts[candidate].tolist()
            self._uncount(candidate, self._by.pop(candidate), amounts)

    def order(self, candidate: int) -> tuple[int, int, int]:
        """Its place in the order in which all may go; those that need no right of reclaim go first."""
        if candidate not in self._by:
            return -1, 0, candidate
        resource = self._by[candidate]
        return self.turns.index(resource), int(self._rights.amounts[candidate, resource]), candidate

    def _count(self, candidate: int, resource: int, amounts: Sequence[int]) -> None:
        for one in self._rights.chains[self._lender.item(candidate)]:
            self._gone[one].own[resource].append(amounts[resource])
            every = self._gone[one].all[resource]
            every[:] = [x + y for x, y in zip(every, amounts, strict=True)]

    def _uncount(self, candidate: int, resource: int, amounts: Sequence[int]) -> None:
        for one in self._rights.chains[self._lender.item(candidate)]:
            self._gone[one].own[resource].remove(amounts[resource])
            every = self._gone[one].all[resource]
            every[:] = [x - y for x, y in zip(every, amounts, strict=True)]

    def _stands(self, lender: int) -> bool:
        """It is over its min before the last of those that go by each resource."""
        gone = self._gone[lender]
        over = self._rights.over[lender]
        before = [0] * len(over)
        for resource in self.turns:
            own = gone.own[resource]
            if own and before[resource] + sum(own) - max(own) >= over[resource]:
                return False
            before = [x + y for x, y in zip(before, gone.all[resource], strict=True)]
        return True
