"""What a service does outside, beside its loop: whoever is slow, or does not answer, keeps only its own jobs waiting.

A message whose decision has calls is put aside until they are done, and comes back to the loop with their outcomes, to
be decided upon once more. A propagator that waited for a whole batch was seen to take five seconds over each of them,
for all clusters, while one deletion in one cluster did not end.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from msgspec import Struct, field, structs

from fairway.domain.decision import Call, Decision, Heard, Outcome, Step
from fairway.domain.job import Job
from fairway.runtime.inbox import Item
from fairway.runtime.spoken_of import ABOUT
from fairway.runtime.vital_tasks import vital

# Messages of one cluster whose calls are under way at once, and those in hand with them; more come again later.
_AT_ONCE = 128
_IN_HAND = 1024
_LATER_MS = 2_000


class CallPlan(Struct):
    """A message in work, what was decided, and of each step the job as it was `before`, if that is known."""

    item: Item
    heard: Heard[Any]
    decision: Decision = Decision()
    before: list[Job | None] = []

    def steps(self) -> Iterator[tuple["CallPlan", Step, Job | None]]:
        return ((self, step, before) for step, before in zip(self.decision.steps, self.before, strict=True))

    @property
    def found_done(self) -> bool:
        """Whether it comes again and causes nothing now. Another instance may have done it, and not have said so yet:
        if it were acknowledged and the store lost then, nobody would do it once more."""
        return self.heard.delivered > 1 and not self.decision.steps and self.decision.again_in is None


class _Line(Struct):
    """One cluster's."""

    count: int = 0
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))


class OutsideCalls:
    """`failed` is awaited with a plan of which a call raised; every other comes `back` as its item."""

    def __init__(
        self,
        act: Callable[[Call], Awaitable[Outcome]],
        back: Callable[[Item], None],
        failed: Callable[[CallPlan, BaseException], Awaitable[None]],
    ) -> None:
        self._act = act
        self._back = back
        self._failed = failed
        self._lines: dict[str, _Line] = {}
        self._ids: set[str] = set()

    def take(self, plan: CallPlan, group: asyncio.TaskGroup) -> None:
        """Returns at once; the calls are made in `group`."""
        if plan.heard.id in self._ids:
            return  # delivered again meanwhile: what becomes of the first delivery is said of both
        line = self._lines.setdefault(plan.decision.calls[0].cluster, _Line())
        if line.count >= _IN_HAND:
            plan.item.later(_LATER_MS)
            return
        self._ids.add(plan.heard.id)
        line.count += 1
        group.create_task(vital("loop: acting", self._do(plan, line)))

    async def _do(self, plan: CallPlan, line: _Line) -> None:
        try:
            async with line.gate:
                calls = (self._called(plan, call) for call in plan.decision.calls)
                made = await asyncio.gather(*calls, return_exceptions=True)
            outcomes = [_without_body(one) for one in made if isinstance(one, Outcome)]
            if len(outcomes) < len(made):
                await self._failed(plan, next(one for one in made if isinstance(one, BaseException)))
            else:
                plan.item.known = structs.replace(plan.heard, outcomes=(*plan.heard.outcomes, *outcomes))
                self._back(plan.item)
        finally:
            line.count -= 1
            self._ids.discard(plan.heard.id)

    async def _called(self, plan: CallPlan, call: Call) -> Outcome:
        """In a task of its own, so that whatever is logged meanwhile says of which job it is."""
        ABOUT.set((plan.heard, call))
        return await self._act(call)


def _without_body(one: Outcome) -> Outcome:
    return structs.replace(one, call=structs.replace(one.call, body=None))
