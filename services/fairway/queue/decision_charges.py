"""What is charged: as the view has it, and as one decision has changed it so far."""

from collections.abc import Iterable, Mapping

from fairway.domain.decision import Add


class DecisionCharges:
    """`fixed` is what jobs are charged that go in the decision and are never evicted. `unheard` is what claims get back
    that is still charged, once somebody asked for it: nothing that the decision does makes a difference there."""

    def __init__(self, before: Mapping[str, int]) -> None:
        self._before = before
        self._now: dict[str, int] | None = None
        self._uncounted: list[Add] = []
        self.fixed: list[Add] = []
        self.unheard: dict[str, Mapping[str, int]] | None = None

    @property
    def now(self) -> Mapping[str, int]:
        """Most decisions charge one job and ask no more: what is charged is counted when somebody asks."""
        if self._now is None and not self._uncounted:
            return self._before
        if self._now is None:
            self._now = dict(self._before)
        for one in self._uncounted:
            self._now[one.key] = self._now.get(one.key, 0) + one.amount
        self._uncounted.clear()
        return self._now

    def add(self, adds: Iterable[Add]) -> None:
        self._uncounted += adds
