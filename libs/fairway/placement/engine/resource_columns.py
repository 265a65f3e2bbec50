"""Which column of a row of amounts is which resource's: they are met one after another."""

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from fairway.placement.engine.change_log import Numbers
from fairway.placement.loops.layout import PODS, UNLISTED

# More of a resource on one node counts as this much, so that the sum over any cluster stays within 64 bits: 1 PiB.
MOST = 1 << 50


class ResourceColumns:
    """`by_name`: the columns; `learned` grows with each time that some were added."""

    def __init__(self) -> None:
        self.by_name = {"pods": PODS}
        self.learned = 0
        self._amounts: Callable[[Mapping[str, int]], Any] = lambda row: (row["pods"],)

    def __len__(self) -> int:
        return len(self.by_name)

    def learn(self, names: Iterable[str]) -> None:
        """Resources that may not have been met before."""
        more = dict.fromkeys(name for name in names if name not in self.by_name)
        for name in more:
            self.by_name[name] = len(self.by_name)
        if more:
            self.learned += 1
            self._amounts = itemgetter(*self.by_name)

    def table(self, rows: Collection[Mapping[str, int]]) -> Numbers:
        """Amounts by row and column."""
        try:
            cells = list(map(self._amounts, rows))
        except KeyError:  # not every node has every resource
            missing = [(name, 0 if column else UNLISTED) for name, column in self.by_name.items()]
            cells = [tuple([row.get(name, none) for name, none in missing]) for row in rows]
        try:
            table = np.array(cells, np.int64)
        except OverflowError:
            table = np.array([[max(-MOST, min(UNLISTED - 1, cell)) for cell in row] for row in cells], np.int64)
        if table.max() > MOST:
            table[(table > MOST) & (table != UNLISTED)] = MOST
        return table
