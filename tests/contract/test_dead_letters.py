"""`fairway dlq` on a real NATS: letters are listed, shown, said again until their message is stored, dropped."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
import structlog
from nats.js.errors import NotFoundError
from typer.testing import CliRunner, Result

from fairway.adapters.memory_store import MemoryStore
from fairway.adapters.nats_bus import NatsBus
from fairway.adapters.nats_letters import NatsLetters
from fairway.adapters.system import SystemClock
from fairway.app.cli import app
from fairway.domain.decision import Decision, Heard, Put, Step
from fairway.runtime.loop import Loop, World
from fairway.runtime.ports import Outgoing
from fairway.runtime.service import Ear, Service
from fairway.runtime.telemetry import Meter
from fairway.runtime.views import JobsView
from fairway.wire import fleet, jobs, subjects
from fairway.wire.reasons import Code, Reason

SUBJECT = subjects.job("cancel", "t")


def decide(view: JobsView, heard: Heard, now: int) -> Decision:
    """A row for each message, under its id; what is said first stands at the first place of the record."""
    key = heard.id if heard.sequence == 1 else f"{heard.id} again"
    return Decision((Step((Put("notes", key, heard.message.who),)),))


class Bench:
    """A service on a real bus; `mended` it understands what it did not before."""

    def __init__(self, bus: NatsBus, url: str) -> None:
        self.bus, self.url = bus, url
        self.store, self.letters = MemoryStore(), NatsLetters(bus)

    @asynccontextmanager
    async def service(self, mended: bool) -> AsyncIterator[None]:
        decoder = msgspec.json.Decoder(jobs.Cancel if mended else jobs.Removed)
        ear = Ear(subjects.JOBS, "s", ("fairway.job.cancel.>",), decoder)
        own = await NatsBus.connect(self.url, "s")  # what it fetched ahead goes back when it is closed
        world = World(own, self.store.beside(), SystemClock(), "me")
        loop = asyncio.create_task(Loop(Service("s", (ear,), decide, JobsView), world, Meter()).run())
        try:
            yield
        finally:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
            await own.close()

    async def say(self, *names: str) -> None:
        """Several as a bundle, of which the bus knows no single id: they can be said again at once."""
        words = [
            Outgoing(name, SUBJECT, msgspec.json.encode(jobs.Cancel(job="llm-1", tenant="t", who=name)), order=name)
            for name in names
        ]
        await self.bus.publish(words)

    async def lettered(self, count: int) -> list[int]:
        """The numbers of the letters, once there are so many."""
        found: list[int] = []
        async with asyncio.timeout(30):
            async for one in self.bus.history(subjects.DLQ, live=True):
                found += [one.sequence] if one.subject else []
                if len(found) == count:
                    break
        return found

    async def buried(self, *names: str) -> list[int]:
        await self.say(*names)
        async with self.service(mended=False):
            return await self.lettered(len(names))

    async def noted(self, *keys: str) -> None:
        """Returns once these rows are there."""
        async with asyncio.timeout(30):
            while not {*keys} <= {*self.store.rows.get("notes", {})}:
                await asyncio.sleep(0.02)

    async def said(self) -> list[str]:
        return [one.id async for one in self.bus.history(subjects.JOBS, (SUBJECT,))]

    async def left(self) -> list[int]:
        return [one.number async for one in self.letters.all()]

    async def run(self, *words: str) -> Result:
        """The command runs a loop of its own, beside this one. Its log goes where the runner listens, and after it
        nobody would."""
        try:
            return await asyncio.to_thread(CliRunner().invoke, app, ["dlq", *words], env={"NO_COLOR": "1"})
        finally:
            structlog.reset_defaults()

    async def asked(self, *words: str) -> Any:
        return json.loads((await self.run(*words, "-o", "json")).stdout)


@pytest.fixture
async def bench(nats_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    monkeypatch.setenv("FAIRWAY_NATS_URL", nats_url)
    bus = await NatsBus.connect(nats_url, "dead-letters")
    for stream in (subjects.JOBS, subjects.DLQ):
        with contextlib.suppress(NotFoundError):
            await bus.client.jetstream().delete_stream(stream)
    await bus.provision()
    yield Bench(bus, nats_url)
    for stream in (subjects.JOBS, subjects.DLQ):
        await bus.client.jetstream().delete_stream(stream)
    await bus.provision()
    await bus.close()


async def test_a_letter_is_listed_and_shown_with_the_message_that_it_holds(bench: Bench) -> None:
    number, _ = await bench.buried("ann", "ben")
    line, _ = (await bench.asked("list"))["items"]
    assert (line["number"], line["service"], line["job"], line["id"]) == (number, "s", "llm-1", "ann")
    assert (line["subject"], line["sequence"], line["why"]["code"]) == (SUBJECT, 1, "Undecodable")
    assert (await bench.asked("list", "--service", "quota"))["items"] == []
    assert (await bench.asked("show", str(number)))["message"]["who"] == "ann"
    shown = (await bench.run("show", str(number))).stdout
    assert '"who": "ann"' in shown and f"{SUBJECT}, message 1 of JOBS" in shown
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


async def test_a_letter_that_holds_what_was_never_said_is_not_said_for_it(bench: Bench) -> None:
    """Whoever may write letters must not speak on any subject through the operator."""
    (number,) = await bench.buried("ann")
    real = await bench.letters.one(number)
    assert real is not None
    forged = [
        msgspec.structs.replace(real.letter, data=msgspec.json.encode(jobs.Cancel(job="llm-2", tenant="t", who="eve"))),
        msgspec.structs.replace(real.letter, subject=subjects.job("cancel", "u")),
        msgspec.structs.replace(real.letter, sequence=77),
    ]
    words = [Outgoing(f"f{n}", subjects.dead_letter("s"), msgspec.json.encode(one)) for n, one in enumerate(forged)]
    await bench.bus.publish(words)
    done = await bench.asked("retry", *map(str, (await bench.left())[1:]))
    assert [one["why"]["code"] for one in done["items"]] == ["NoMessage"] * 3
    assert await bench.said() == ["ann"]


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
    listed, shown = (await bench.run("list")).stdout, (await bench.run("show", str(number))).stdout
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
