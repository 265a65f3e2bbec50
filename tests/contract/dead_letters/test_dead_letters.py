"""`fairway dlq` on a real NATS: letters are listed, shown, said again until their message is stored, dropped."""

import json

import msgspec
import pytest

from fairway.runtime.ports import Outgoing
from fairway.wire import fleet, subjects
from fairway.wire.reasons import Code, Reason
from tests.support.dead_letters import SUBJECT, Bench


async def test_a_letter_is_listed_and_shown_with_the_message_that_it_holds(bench: Bench) -> None:
    number, _ = await bench.buried("ann", "ben")
    line, _ = (await bench.asked("list"))["items"]
    assert (line["number"], line["service"], line["job"], line["id"]) == (number, "s", "llm-1", "ann")
    assert (line["subject"], line["sequence"], line["why"]["code"]) == (SUBJECT, 1, "Undecodable")
    assert (await bench.asked("list", "--service", "quota"))["items"] == []
    assert (await bench.asked("show", str(number)))["message"]["who"]["user"] == "ann"
    shown = (await bench.run("show", str(number))).stdout
    assert '"user": "ann"' in shown and f"{SUBJECT}, message 1 of JOBS" in shown
    assert f"{number}       s        " in (await bench.run("list")).stdout


async def test_a_message_is_said_again_and_handled_and_its_letter_goes(bench: Bench) -> None:
    number, other = await bench.buried("ann", "ben")
    async with bench.service(mended=True):
        done = await bench.run("retry", str(number))
        assert (done.exit_code, done.stdout) == (0, f"letter {number}: retried\n"), done.output
        await bench.noted("ann again")
    assert (await bench.said(), await bench.left()) == (["ann", "ben", "ann"], [other])
    assert '"event": "dead letter retried"' in done.stderr and '"job": "llm-1"' in done.stderr
    assert (await bench.run("retry", str(number))).exit_code == 3


async def test_a_letter_is_kept_as_long_as_the_bus_takes_its_message_for_the_one_that_failed(bench: Bench) -> None:
    (number,) = await bench.buried("ann")
    kept = await bench.letters.one(number)
    assert kept is not None
    with pytest.raises(ValueError, match="still knows message 1 of JOBS"):
        await bench.letters.retry(kept)
    assert (await bench.said(), await bench.left()) == (["ann"], [number])


async def test_the_command_waits_until_the_bus_has_forgotten_the_one_that_failed(bench: Bench) -> None:
    await bench.bus.provision([msgspec.structs.replace(subjects.STREAMS[0], duplicate_window=2)])
    (number,) = await bench.buried("ann")
    done = await bench.run("retry", str(number))
    assert (done.exit_code, await bench.said(), await bench.left()) == (0, ["ann", "ann"], [])


async def test_a_retry_that_was_cut_off_before_the_letter_went_is_done_once(bench: Bench) -> None:
    number, other = await bench.buried("ann", "ben")
    kept = await bench.letters.one(number)
    assert kept is not None
    assert (await bench.run("retry", str(number))).exit_code == 0
    await bench.letters.retry(kept)
    assert (await bench.said(), await bench.left()) == (["ann", "ben", "ann"], [other])


async def test_a_message_that_fails_again_is_another_letter(bench: Bench) -> None:
    number, other = await bench.buried("ann", "ben")
    async with bench.service(mended=False):
        assert (await bench.run("retry", str(number))).exit_code == 0
        still, again = await bench.lettered(2)
    kept = await bench.letters.one(again)
    assert still == other and kept is not None
    assert kept.letter.id == "ann" and kept.letter.sequence > 1


async def test_all_letters_of_a_service_are_said_again_and_those_of_others_stay(bench: Bench) -> None:
    first, second = await bench.buried("ann", "ben")
    why = Reason(Code.INVALID, "no job", "kind")
    letter = fleet.DeadLetter(at=1, service="gateway", subject="http 127.0.0.1", why=why)
    await bench.bus.publish([Outgoing("g", subjects.dead_letter("gateway"), msgspec.json.encode(letter))])
    async with bench.service(mended=True):
        done = await bench.asked("retry", "--all", "--service", "s")
        assert [one["done"] for one in done["items"]] == ["retried", "retried"]
        await bench.noted("ann again", "ben again")
    (left,) = await bench.left()
    assert left not in (first, second)
    refused = await bench.run("retry", "--all")
    assert refused.exit_code == 4 and "NoMessage: what it holds was never a message" in refused.stdout
    assert await bench.left() == [left]
    assert await bench.letters.counts() == {"gateway": 1}


async def test_a_letter_that_does_not_decode_is_listed_among_the_others_and_can_be_dropped(bench: Bench) -> None:
    first, second = await bench.buried("ann", "ben")
    await bench.bus.publish([Outgoing("garbage", subjects.dead_letter("s"), b"\xff")])
    *known, (bad, why) = [(one["number"], one["why"]) for one in (await bench.asked("list"))["items"]]
    assert [number for number, _ in known] == [first, second]
    assert why["code"] == "Undecodable" and "the letter itself" in why["text"]
    assert (await bench.run("show", str(bad))).exit_code == (await bench.run("drop", str(bad))).exit_code == 0
    assert await bench.left() == [first, second]


async def test_a_dropped_letter_is_gone_and_a_line_of_the_log_says_what_it_was(bench: Bench) -> None:
    first, second = await bench.buried("ann", "ben")
    done = await bench.run("drop", str(first), "99")
    assert (done.exit_code, await bench.left()) == (3, [second])
    assert "letter 99: there is no such letter" in done.stdout
    (said,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert (said["event"], said["id"], said["subject"]) == ("dead letter dropped", "ann", SUBJECT)
    assert said["who"] and said["reason"] == "Undecodable"
    await bench.letters.drop(first)  # once more is no error
    assert (await bench.run("drop")).exit_code == (await bench.run("drop", "1", "--all")).exit_code == 2
    assert (await bench.run("drop", "--all")).exit_code == 0 and await bench.left() == []
