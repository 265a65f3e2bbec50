"""The loop: how often it tries what fails, and how long it waits in between, before that is a dead letter."""

import msgspec
import pytest

from fairway.domain.decision import Decision, Heard
from tests.spec.runtime.test_loop import Memory, bench, decide
from tests.support.memory.clock import settle

# Milliseconds from the first try: each wait is twice the one before.
SIX = [0, 400, 1_200, 2_800, 6_000, 12_400]


@pytest.mark.parametrize("bad", ["raises", "breaks"], ids=["a decision", "a call"])
async def test_what_fails_is_tried_six_times_and_is_a_dead_letter_then(bad: str) -> None:
    async with bench() as one:
        await one.crash()
        tries: list[int] = []

        def counted(view: Memory, heard: Heard, now: int) -> Decision:
            if heard.message.job == bad:
                tries.append(now)
            return decide(view, heard, now)

        one.service = msgspec.structs.replace(one.service, decide=counted)
        one.start()
        await one.say("a", bad, "b")
        await settle()
        assert one.notes() == ["a", "b"]
        await one.clock.advance(12.3)
        assert (len(tries), one.buried()) == (5, [])
        await one.clock.advance(60)
        assert [at - tries[0] for at in tries] == SIX
        assert [letter["id"] for letter in one.buried()] == [bad]
        assert one.bus.waiting == 0
