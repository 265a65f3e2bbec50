"""GET /v1/dead-letters: messages that could not be handled. The message in a letter is shown to who may read the
manifest of its job, and of all others size and digest."""

import asyncio
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.domain.text.digits import is_whole
from fairway.gateway.audit.audit_trail import AuditTrail
from fairway.gateway.callers.access import Access, access_of
from fairway.gateway.callers.caller import DEAD_LETTERS, GROUP, RECORD, AccessQuestion
from fairway.gateway.callers.guarded_routes import refused_parameter
from fairway.gateway.callers.rights_of_kinds import reading
from fairway.gateway.http.problem import Problem, answer
from fairway.gateway.http.submit import Door
from fairway.gateway.reader import Reader
from fairway.runtime.ports import World
from fairway.runtime.record.kept_letters import LetterLine, kept_letter, message_in
from fairway.wire import subjects

_MOST = 100
# A letter may hold a megabyte, so few lists are read at once.
_AT_ONCE = 2


class LetterPage(Struct, frozen=True, omit_defaults=True, rename={"resume": "continue"}):
    """Oldest first. `continue` goes into the next request; absent: this was the last page."""

    items: tuple[LetterLine, ...]
    resume: str = ""


class Letter(Struct, frozen=True, omit_defaults=True):
    """`message` if it is JSON, else `data` as base64; without either it is `withheld`, and why."""

    letter: LetterLine
    message: Any = None
    data: str = ""
    withheld: str = ""


class DeadLetters:
    def __init__(self, world: World, door: Door, trail: AuditTrail) -> None:
        self._bus = world.bus
        self._rows = Reader(world.store)
        self._door = door
        self._trail = trail
        self._lists = asyncio.Semaphore(_AT_ONCE)

    async def list(self, request: Request) -> Response:
        query = request.query_params
        service = query.get("service", "")
        only = (subjects.dead_letter(service),) if service else ()
        most = _number(query.get("limit", ""), "limit", _MOST, _MOST)
        after = _number(query.get("continue", ""), "continue", 0, 2**53)
        found: list[LetterLine] = []
        async with self._lists, aclosing(self._bus.history(subjects.DLQ, only, start=after + 1)) as letters:
            async for one in letters:
                if len(found) == most:
                    return answer(LetterPage(tuple(found), str(found[-1].number)))
                found.append(LetterLine.of(kept_letter(one.sequence, one.data)))
        return answer(LetterPage(tuple(found)))

    async def one(self, request: Request) -> Response:
        name = request.path_params["number"]
        data = await self._bus.fetch(subjects.DLQ, int(name)) if is_whole(name, 15) else None
        if data is None:
            raise Problem(404, f"there is no dead letter {name[:20]}", "GET /v1/dead-letters has their numbers")
        kept = kept_letter(int(name), data)
        line = LetterLine.of(kept)
        access = access_of(request)
        lacks = await self._lacks(access, line)
        if lacks is not None:
            access.denied(lacks)
            return answer(Letter(line, withheld=f"{access.caller.user} may not {lacks}"))
        seen = AccessQuestion("get", DEAD_LETTERS, GROUP, name=name)
        # Nobody is shown what nobody can tell later that they saw.
        await self._door.publish([self._trail.did(access, seen)])
        return answer(msgspec.convert({"letter": line, **message_in(kept.letter.data)}, Letter))

    async def _lacks(self, access: Access, line: LetterLine) -> AccessQuestion | None:
        """What they would have to be allowed to see the message; None: they may. Who may read all of the record may
        see each; the message itself says which job it speaks of, so that has to be one of the tenant of its subject."""
        everything = AccessQuestion("get", RECORD)
        if await access.may(everything):
            return None
        job = (await self._rows.jobs([line.job])).get(line.job) if line.job else None
        if job is None or line.subject.split(".")[-1] != subjects.token(job.tenant):
            return everything
        ask = reading(job)
        return None if await access.may(ask) else ask


def _number(text: str, name: str, usual: int, most: int) -> int:
    if not text:
        return usual
    if not is_whole(text, 16) or not int(text) <= most or (name == "limit" and not int(text)):
        raise refused_parameter(
            name, f"{name}={text[:20]!r} is no number from 1 to {most}", "correct it or leave it out"
        )
    return int(text)
