"""How long a service with one owner is sure to be that one: what it writes outside, it sets out to write by then.

The store refuses what comes from an owner of before. An API server does not, and would take what was decided before a
process stood still over what the next owner has written meanwhile.
"""


class Ownership:
    """`until` is when the lease runs out that was granted last (ms), counted from when it was asked for."""

    def __init__(self) -> None:
        self.until = 0

    def granted(self, asked: int, ttl_ms: int) -> None:
        self.until = asked + ttl_ms

    def over(self) -> None:
        self.until = 0

    def lasts(self, now: int) -> bool:
        return now < self.until
