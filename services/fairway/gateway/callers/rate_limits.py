"""How much one caller may ask at a time: token buckets, and requests in hand. Pure."""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from fairway.gateway.http.problem import Problem
from fairway.wire.reasons import Code

# Callers that are remembered; who was forgotten begins with a full bucket.
_MOST = 16_384
# What all service accounts of a namespace may ask together, in callers.
TOGETHER = 2


class HttpLimits(Struct, frozen=True):
    """In seconds: `headers` and `body`, within which those have to be there. A caller may have `streams` event streams
    open and send `rate` requests a second (twice as many in one breath), and all service accounts of a namespace
    together twice as many requests. `connections` are those of everybody."""

    headers: float = 10.0
    body: float = 30.0
    streams: int = 8
    rate: int = 20
    connections: int = 1_000

    @property
    def in_hand(self) -> int:
        """Requests of one caller that are being answered: a second's worth, and the streams."""
        return self.rate + self.streams


class Buckets:
    """Each key may take `rate` a second, and `burst` at once."""

    def __init__(self, rate: int, burst: int) -> None:
        self._rate = rate
        self._burst = burst
        self._left: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def wait(self, key: str, now: int) -> int:
        """0: one was taken; else after how many ms to come again."""
        left, at = self._left.get(key, (float(self._burst), now))
        left = min(float(self._burst), left + max(0, now - at) * self._rate / 1_000)
        taken = left >= 1
        self._left[key] = (left - 1 if taken else left, now)
        self._left.move_to_end(key)
        while len(self._left) > _MOST:
            self._left.popitem(last=False)
        return 0 if taken else max(1, round((1 - left) * 1_000 / self._rate))


class InHand:
    """At most so many at the same time for each key. `what`: of whom."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._counts: Counter[str] = Counter()

    @contextmanager
    def one(self, key: str) -> Iterator[None]:
        """Raises a Problem (429)."""
        if self._counts[key] >= self._most:
            raise too_much(f"{self._most} {self._what} at a time are the most", 1_000)
        self._counts[key] += 1
        try:
            yield
        finally:
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]


def too_much(title: str, wait_ms: int) -> Problem:
    headers = {"Retry-After": str(-(-wait_ms // 1_000))}
    detail = "come again after Retry-After; POST /v1/jobs:batch takes many jobs as one request"
    return Problem(429, title, detail, code=Code.TOO_FAST.value, headers=headers)
