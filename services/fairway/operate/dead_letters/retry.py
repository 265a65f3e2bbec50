"""What `fairway dlq` does: reads letters, says their messages again, deletes them."""

import asyncio
import getpass
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import sha256

import structlog
from msgspec import Struct

from fairway.adapters.nats.dead_letters import KeptLetter, NatsLetters
from fairway.client.failure import say
from fairway.operate import servers
from fairway.runtime.record.dead_letter_retry import job_of
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason, Refused
from fairway.wire.subjects import JOBS, STREAMS

log = structlog.get_logger()
RETRIED = "retried"
DROPPED = "dropped"
LEFT = "left"
NOT_THERE = "not there"
Do = Callable[[NatsLetters, KeptLetter], Awaitable[None]]
# While the bus still knows a message, it is tried again every second, for as long as it may know it and a little.
_TRY_S = 1.0
_TRIES = int(next(stream.duplicate_window for stream in STREAMS if stream.name == JOBS)) + 30


class LetterSelection(Struct, frozen=True):
    """These numbers; or, without any, all letters, or all of a service."""

    numbers: tuple[int, ...] = ()
    service: str = ""


class LetterLine(Struct, frozen=True):
    """A letter as it is listed. `id`, `subject`, `stream`, `sequence`, `job`, `size` and `sha256` are those of the
    message in it, also where the letter keeps only the beginning of it; `who` asked for it, if a door has said so."""

    number: int
    service: str
    at: int
    why: Reason
    subject: str
    id: str
    stream: str
    sequence: int
    job: str
    size: int
    sha256: str
    who: Actor | None = None

    @classmethod
    def of(cls, kept: KeptLetter) -> "LetterLine":
        one = kept.letter
        return cls(
            kept.number,
            one.service,
            one.at,
            one.why,
            one.subject,
            one.id,
            one.stream,
            one.sequence,
            job_of(one.data),
            one.size or len(one.data),
            one.sha256 or sha256(one.data).hexdigest(),
            one.who,
        )


class Done(Struct, frozen=True, omit_defaults=True):
    """What became of one letter; `why` of one that was left."""

    number: int
    done: str
    why: Reason | None = None


@asynccontextmanager
async def _letters() -> AsyncIterator[NatsLetters]:
    async with servers.bus(servers.settings()) as bus:
        yield NatsLetters(bus)


async def found(service: str) -> list[LetterLine]:
    async with _letters() as letters:
        return [LetterLine.of(one) async for one in letters.all(service)]


async def one(number: int) -> KeptLetter | None:
    async with _letters() as letters:
        return await letters.one(number)


async def retried(asked: LetterSelection) -> list[Done]:
    return await _each(asked, RETRIED, _retry)


async def dropped(asked: LetterSelection) -> list[Done]:
    return await _each(asked, DROPPED, lambda letters, kept: letters.drop(kept.number))


async def _each(asked: LetterSelection, done: str, do: Do) -> list[Done]:
    """Letter after letter, so that at most one message is in memory."""
    outcomes = []
    async with _letters() as letters:
        for number in asked.numbers or [one.number async for one in letters.all(asked.service)]:
            kept = await letters.one(number)
            if kept is None:
                outcomes.append(Done(number, NOT_THERE))
                continue
            try:
                await do(letters, kept)
            except Refused as refused:
                outcomes.append(Done(number, LEFT, refused.reasons[0]))
                continue
            outcomes.append(Done(number, done))
            _audit(kept, done)
    return outcomes


async def _retry(letters: NatsLetters, kept: KeptLetter) -> None:
    """Waits while it is too soon; refused for another reason it stays refused."""
    for tried in range(_TRIES):
        try:
            await letters.retry(kept)
            return
        except Refused as refused:
            if refused.reasons[0].code is not Code.TOO_SOON or tried + 1 == _TRIES:
                raise
            if not tried:
                say(f"letter {kept.number} waits: {refused.reasons[0].text}")
        await asyncio.sleep(_TRY_S)


def _audit(kept: KeptLetter, done: str) -> None:
    line = LetterLine.of(kept)
    facts = {name: getattr(line, name) for name in ("number", "service", "subject", "stream", "sequence", "id", "job")}
    log.warning(f"dead letter {done}", who=_who(), reason=line.why.code, cause=line.why.text, **facts)


def _who() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # in a container the user may have a number and no name
        return str(os.getuid())
