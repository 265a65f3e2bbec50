"""Which events count, when the working set was lost and made anew while some of them were still on their way.

An event says by its `epoch` in which working set it was decided: the place in the record where the rebuild of that
set began. What was stored before a later rebuild began is part of what that rebuild made; what was stored after it is a
late word: it speaks of a store that is gone, nobody acts on it, and who said it is not told that it counts.
"""

from bisect import bisect_right

from fairway.domain.text.digits import is_whole
from fairway.wire.jobs import JobMessage, Rebuild


def born_of(epoch: str) -> int:
    """Of the store's own name of its working set, `<born>-<owner>`; 0 when it does not say."""
    number = epoch.partition("-")[0]
    return int(number) if is_whole(number) else 0


def late(message: JobMessage, sequence: int, born: int) -> bool:
    """Whether an event at this place in the record was decided before the working set that was `born` there."""
    return message.rev > 0 and message.epoch < born < sequence


class WorkingSets:
    """Those that were in use, by what the record says of rebuilds, heard in its order. A rebuild that another one began
    before it ended has lost its lock: nothing came of it. What was heard already, up to the place `heard`, may be heard
    again."""

    def __init__(self) -> None:
        self._begun = self.heard = 0
        self._born: list[int] = []

    @property
    def latest(self) -> int:
        """The one in use; 0 before the first."""
        return self._born[-1] if self._born else 0

    def hear(self, message: Rebuild, sequence: int) -> bool:
        """Whether a new working set is in use from here on."""
        if sequence <= self.heard:
            return False
        self.heard = sequence
        if not message.begun:
            self._begun = sequence
            return False
        if message.begun == self._begun:
            self._born.append(message.begun)
        return message.begun == self._begun

    def late(self, message: JobMessage, sequence: int) -> bool:
        born = self._born
        if not born or message.epoch >= born[-1]:
            return False  # of the one in use, as most are
        return late(message, sequence, born[bisect_right(born, message.epoch)])
