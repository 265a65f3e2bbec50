"""What `fairway dlq` does: reads letters, says their messages again, deletes them."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from msgspec import Struct

from fairway.adapters.nats.dead_letters import NatsLetters
from fairway.client.failure import say
from fairway.gateway.callers.caller import DEAD_LETTERS, GROUP
from fairway.operate import servers
from fairway.operate.audit.noted import noted, operator
from fairway.runtime.record.kept_letters import KeptLetter, LetterLine
from fairway.wire.reasons import Code, Reason, Refused
from fairway.wire.subjects import JOBS, STREAMS

log = structlog.get_logger()
RETRIED = "retried"
DROPPED = "dropped"
LEFT = "left"
NOT_THERE = "not there"
_RESOURCE = f"{DEAD_LETTERS}.{GROUP}"
Do = Callable[[NatsLetters, KeptLetter], Awaitable[None]]
# While the bus still knows a message, it is tried again every second, for as long as it may know it and a little.
_TRY_S = 1.0
_TRIES = int(next(stream.duplicate_window for stream in STREAMS if stream.name == JOBS)) + 30


class LetterSelection(Struct, frozen=True):
    """These numbers; or, without any, all letters, or all of a service."""

    numbers: tuple[int, ...] = ()
    service: str = ""


class Done(Struct, frozen=True, omit_defaults=True):
    """What became of one letter; `why` of one that was left."""

    number: int
    done: str
    why: Reason | None = None


async def found(service: str) -> list[LetterLine]:
    async with servers.bus(servers.settings()) as bus:
        return [LetterLine.of(one) async for one in NatsLetters(bus).all(service)]


async def one(number: int) -> KeptLetter | None:
    """With the message in it: whoever is shown it stands in the audit."""
    async with servers.bus(servers.settings()) as bus:
        if (kept := await NatsLetters(bus).one(number)) is not None:
            await noted(bus, "get", _RESOURCE, str(number))
        return kept


async def retried(asked: LetterSelection) -> list[Done]:
    return await _each(asked, "retry", RETRIED, _retry)


async def dropped(asked: LetterSelection) -> list[Done]:
    return await _each(asked, "delete", DROPPED, lambda letters, kept: letters.drop(kept.number))


async def _each(asked: LetterSelection, does: str, done: str, do: Do) -> list[Done]:
    """Letter after letter, so that at most one message is in memory."""
    outcomes = []
    async with servers.bus(servers.settings()) as bus:
        letters = NatsLetters(bus)
        for number in asked.numbers or [one.number async for one in letters.all(asked.service)]:
            kept = await letters.one(number)
            if kept is None:
                outcomes.append(Done(number, NOT_THERE))
                continue
            await noted(bus, does, _RESOURCE, str(number))
            try:
                await do(letters, kept)
            except Refused as refused:
                outcomes.append(Done(number, LEFT, refused.reasons[0]))
                continue
            outcomes.append(Done(number, done))
            _tell(kept, done)
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


def _tell(kept: KeptLetter, done: str) -> None:
    line = LetterLine.of(kept)
    facts = {name: getattr(line, name) for name in ("number", "service", "subject", "stream", "sequence", "id", "job")}
    log.warning(f"dead letter {done}", who=operator(), reason=line.why.code, cause=line.why.text, **facts)
