"""What was touched, by number: each reader keeps a version and asks for the numbers added after it."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

# Who is further behind than so many touches reads everything anew, which then is not slower.
_KEEP = 1 << 16


class ChangeLog:
    """Numbers in the order in which they were touched, repeated if touched again. The past is forgotten beyond a
    bound; a reader who is that far behind gets None and starts from nothing."""

    __slots__ = ("_buffer", "_from", "version")

    def __init__(self) -> None:
        self.version = self._from = 0
        self._buffer = np.empty(_KEEP, np.int64)

    def add(self, numbers: Numbers) -> None:
        size = self.version - self._from
        if size + len(numbers) > _KEEP:
            kept = min(size, max(_KEEP // 2 - len(numbers), 0))
            self._buffer[:kept] = self._buffer[size - kept : size].copy()
            self._from = self.version - kept
            size = kept
        if len(numbers) > _KEEP:
            self.version = self._from = self.version + len(numbers)
            return
        self._buffer[size : size + len(numbers)] = numbers
        self.version += len(numbers)

    def since(self, version: int) -> Numbers | None:
        """The numbers touched after this version; to be read before anything is added."""
        if version < self._from:
            return None
        return self._buffer[version - self._from : self.version - self._from]
