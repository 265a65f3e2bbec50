"""Dead letters that anybody may have written: they prove nothing, move nothing, and never take all the room."""

import msgspec

from fairway.runtime.ports import Outgoing
from fairway.wire import fleet, jobs, subjects
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.support.dead_letters import SUBJECT, Bench


async def test_a_letter_that_holds_what_was_never_said_is_not_said_for_it(bench: Bench) -> None:
    """Whoever may write letters must not speak on any subject through the operator."""
    (number,) = await bench.buried("ann")
    real = await bench.letters.one(number)
    assert real is not None
    forged = [
        msgspec.structs.replace(
            real.letter, data=msgspec.json.encode(jobs.Cancel(job="llm-2", tenant="t", who=Actor("eve", "bus")))
        ),
        msgspec.structs.replace(real.letter, subject=subjects.job("cancel", "u")),
        msgspec.structs.replace(real.letter, sequence=77),
    ]
    words = [Outgoing(f"f{n}", subjects.dead_letter("s"), msgspec.json.encode(one)) for n, one in enumerate(forged)]
    await bench.bus.publish(words)
    done = await bench.asked("retry", *map(str, (await bench.left())[1:]))
    assert [one["why"]["code"] for one in done["items"]] == ["NoMessage"] * 3
    assert await bench.said() == ["ann"]


async def test_a_letter_that_holds_a_piece_of_what_was_said_is_not_said_for_it(bench: Bench) -> None:
    """What a tenant wrote into its manifest stands in the record inside another message."""
    piece = msgspec.json.encode(jobs.Cancel(job="llm-2", tenant="t", who=Actor("eve", "bus")))
    whole = b'{"type":"submitted","manifest":%b}' % piece
    words = [Outgoing(f"p{n}", SUBJECT, whole, order="o") for n in range(2)]
    await bench.bus.publish(words[:1])
    await bench.bus.publish([msgspec.structs.replace(one, id=f"{one.id}-again") for one in words])  # a bundle
    why = Reason(Code.INVALID, "as it is")
    forged = [
        fleet.DeadLetter(service="s", stream=subjects.JOBS, subject=SUBJECT, sequence=at, why=why, data=data)
        for at, data in ((1, piece), (2, piece), (2, b"[%b,%b]" % (whole, whole)), (1, b""))
    ]
    await bench.bus.publish(
        [Outgoing(f"f{n}", subjects.dead_letter("s"), msgspec.json.encode(one)) for n, one in enumerate(forged)]
    )
    done = await bench.asked("retry", *map(str, await bench.left()))
    assert [one["why"]["code"] for one in done["items"]] == ["NoMessage"] * 4


async def test_a_message_whose_id_somebody_took_meanwhile_is_said_again_all_the_same(bench: Bench) -> None:
    number, _ = await bench.buried("ann", "ben")
    await bench.bus.publish([Outgoing("ann", subjects.job("removed", "t"), b"{}")])
    assert (await bench.run("retry", str(number))).exit_code == 0
    past = [one async for one in bench.bus.history(subjects.JOBS, (SUBJECT,))]
    assert [one.id for one in past[:2]] == ["ann", "ben"] and len(past) == 3 and past[2].data == past[0].data


async def test_a_letter_shows_size_and_digest_and_moves_no_cursor(bench: Bench) -> None:
    why = Reason(Code.INVALID, "no \x1b[2J\u009b2J\u202ejob", "kind")
    letter = fleet.DeadLetter(
        at=1, service="g\x1b[1m", subject="s\u009b", why=why, data=b"\x1b[2J" * 3, size=99, sha256="a" * 64
    )
    await bench.bus.publish([Outgoing("g", subjects.dead_letter("gateway"), msgspec.json.encode(letter))])
    (number,) = await bench.left()
    listed = (await bench.run("list")).stdout
    shown = (await bench.run("show", str(number))).stdout
    assert "99" in listed and "a" * 12 in listed and "99 bytes, of which the first 12 are kept" in shown
    for text in (
        listed,
        shown,
        (await bench.run("list", "-o", "json")).stdout,
        (await bench.run("show", str(number), "-o", "json")).stdout,
    ):
        assert not [one for one in text if one != "\n" and not one.isprintable()]
    (item,) = (await bench.asked("list"))["items"]
    assert (item["why"]["text"], item["size"]) == (why.text, 99)
    done = await bench.asked("retry", str(number))
    assert done["items"][0]["why"]["code"] == "NoMessage"


async def test_of_letters_the_oldest_go_first(bench: Bench) -> None:
    limit = next(one for one in subjects.STREAMS if one.name == subjects.DLQ)
    assert limit.max_bytes == 1 << 30
    await bench.bus.provision([msgspec.structs.replace(limit, max_bytes=100_000)])
    words = [Outgoing(f"l{n}", subjects.dead_letter("s"), b"x" * 10_000) for n in range(30)]
    await bench.bus.publish(words)
    left = [one.id async for one in bench.bus.history(subjects.DLQ)]
    assert left[-1] == "l29" and left[0] != "l0" and len(left) < 10
