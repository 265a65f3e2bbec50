"""What a service asks of others beside its loop: who is slow keeps only its own messages waiting."""

import msgspec

from fairway.domain.decision import Decision, Heard, Outcome
from tests.spec.runtime.test_loop import Memory, bench, decide
from tests.support.memory.clock import settle


async def test_what_was_sent_with_a_call_is_in_no_decision_that_follows() -> None:
    """No record has it: nobody could decide that again."""
    made: list[Outcome] = []

    def seen(memory: Memory, heard: Heard, now: int) -> Decision:
        made.extend(heard.outcomes)
        return decide(memory, heard, now)

    async with bench() as one:
        await one.crash()
        one.service = msgspec.structs.replace(one.service, decide=seen)
        one.start()
        await one.say("calls")
        await one.clock.advance(1)
        assert one.notes() == ["calls"]
    assert [(each.call.verb, each.call.body) for each in made] == [("calls", None)]


async def test_a_call_that_hangs_keeps_nobody_else_waiting_and_is_made_once_however_often_its_message_comes() -> None:
    async with bench() as one:
        await one.say("hangs", "a", "calls")
        await settle()
        await one.say("b")
        await settle()
        assert one.notes() == ["a", "b", "calls"]
        # As the server does when it was not acknowledged for long.
        one.bus.crashed("s")
        await settle()
        assert one.acted == ["hangs", "calls"]
        one.answers.set()
        await settle()
        assert (one.notes(), one.bus.waiting) == (["a", "b", "calls", "hangs"], 0)


async def test_of_a_cluster_that_hangs_only_so_many_calls_are_under_way_and_none_is_lost() -> None:
    async with bench() as one:
        names = {f"hangs-{number}" for number in range(1_100)}
        await one.say(*names, "a")
        await settle()
        assert (one.notes(), len(one.acted)) == (["a"], 128)
        one.answers.set()
        await one.clock.advance(10)
        assert (set(one.notes()), one.bus.waiting) == ({*names, "a"}, 0)
        assert sorted(one.acted) == sorted(names)
