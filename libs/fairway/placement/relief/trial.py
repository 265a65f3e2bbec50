"""One try at making room: who is gone, and what that gives."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fairway.placement.relief.quota_short import QuotaGiven
from fairway.placement.relief.reclaim import Reclaimed
from fairway.placement.relief.room.gang_room import GangRoom


class Trial(NamedTuple):
    """`room` is None where the gang fits as it is. Who goes by priority has no `resources`; others go by one of
    these."""

    room: GangRoom | None
    quota: QuotaGiven
    reclaimed: Reclaimed
    resources: Callable[[int], tuple[int, ...] | None]
    gone: dict[int, None]

    @property
    def enough(self) -> bool:
        return self.quota.enough and (self.room is None or self.room.enough)

    @property
    def missing(self) -> int:
        """Pods."""
        return self.room.missing if self.room else 0

    def go(self, candidate: int) -> bool:
        """False, and it stays, where it may not go after those that are gone."""
        resources = self.resources(candidate)
        if resources is not None and not self.reclaimed.add(candidate, resources):
            return False
        self._move(candidate, 1)
        self.gone[candidate] = None
        return True

    def stay(self, candidate: int) -> None:
        self.reclaimed.drop(candidate)
        self._move(candidate, -1)
        del self.gone[candidate]

    def without(self, candidates: Iterable[int]) -> None:
        """What there is with these gone and no others, whoever may go."""
        self.clear()
        for candidate in candidates:
            self._move(candidate, 1)
            self.gone[candidate] = None

    def clear(self) -> None:
        for candidate in list(self.gone):
            self.stay(candidate)

    def share(self, candidate: int) -> tuple[int, int]:
        """How much of what lacks it would give, and whatever it gives at all."""
        needed, given = self.room.share(candidate) if self.room else (0, 0)
        quota = self.quota.share(candidate)
        return needed + quota, given + quota

    def loss(self, candidate: int) -> int:
        """Pods without room if it came back."""
        return self.room.loss(candidate) if self.room else 0

    def beside(self, candidate: int) -> Iterable[int]:
        return self.room.beside(candidate) if self.room else ()

    def _move(self, candidate: int, sign: int) -> None:
        if self.room is not None:
            self.room.move(candidate, sign)
        self.quota.move(candidate, sign)
