"""POST /v1/jobs:batch: many jobs as one request, stored together; each is accepted or refused for itself."""

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.domain.submission import Asked, Submission
from fairway.gateway.callers.access import Access, access_of
from fairway.gateway.http.first_result import Word
from fairway.gateway.http.problem import Problem, ProblemBody, answer, refused, unsayable
from fairway.gateway.http.request_bodies import Envelope, from_envelope
from fairway.gateway.http.submit import Accepted, Door, settled, used_before
from fairway.runtime.record.publishable import Unsaid
from fairway.wire.reasons import Code, Reason, Refused

MOST = 100
_AWAY = 503


class Batch(Struct, frozen=True):
    """Up to 100 jobs, together at most 1 MiB. With a `client` each, the same batch may be sent again."""

    jobs: list[Envelope]


class BatchItem(Struct, frozen=True, omit_defaults=True):
    """What POST /v1/jobs would have answered: `accepted`, or a `problem`; `retry_after` in seconds with 429."""

    status: int
    accepted: Accepted | None = None
    problem: ProblemBody | None = None
    retry_after: int = 0


class BatchResult(Struct, frozen=True):
    """An item for each job, in their order."""

    items: tuple[BatchItem, ...]


class _New(Struct):
    """A job that is to be said; `word` is what is heard of it first, `never` why no bus would store it."""

    asked: Asked
    said: Submission
    word: asyncio.Future[Word] | None = None
    never: Unsaid | None = None


class _Again(Struct):
    """The same job of the same client once more: whatever becomes of the first, becomes of it."""

    asked: Asked
    first: _New


class BatchDoor:
    def __init__(self, door: Door) -> None:
        self._door = door

    async def post(self, request: Request) -> Response:
        access = access_of(request)
        jobs = _jobs(await self._door.reading.documents(request))
        seen: dict[str, _New] = {}
        drafts = [await self._draft(one, access, seen) for one in jobs]
        new = [one for one in drafts if isinstance(one, _New)]
        try:
            if "wait" in request.query_params:
                for one in new:
                    one.word = await self._door.word(one.said)
            await self._say(new)
            items = await asyncio.gather(*(_item(one) for one in drafts))
        finally:
            for one in new:
                if one.word is not None:
                    one.word.cancel()  # of what was not stored, nothing will be heard
        return answer(BatchResult(tuple(items)))

    async def _say(self, new: Sequence[_New]) -> None:
        never = await self._door.stored([one.said.say for one in new]) if new else {}
        for one in new:
            one.never = never.get(one.said.say.id)
            if one.never is None:
                self._door.remember(one.said)

    async def _draft(self, body: Any, access: Access, seen: dict[str, _New]) -> _New | _Again | BatchItem:
        try:
            if not isinstance(body, dict):
                raise Refused(Reason(Code.INVALID, "is not an object", "jobs", "put {manifest, policies, client} here"))
            asked = self._door.reading.named(from_envelope(body, ""))
            said = await self._door.allowed(asked, access)
            if (twin := seen.get(said.key)) is not None:
                if twin.said.digest != said.digest:
                    raise used_before(twin.said.job)
                return _Again(asked, twin)
            if (known := await self._door.known(said)) is not None:
                return BatchItem(200, Accepted(known, said.tenant, asked.client, repeated=True))
            await self._door.limited(said)
            seen[said.key] = _New(asked, said)
            return seen[said.key]
        except Refused as error:
            return _problem(refused(error.reasons))
        except Problem as problem:
            if problem.body.status == _AWAY:
                raise  # of one as of all: nothing was said yet
            return _problem(problem)


async def _item(one: _New | _Again | BatchItem) -> BatchItem:
    if isinstance(one, BatchItem):
        return one
    first = one.first if isinstance(one, _Again) else one
    if first.never is not None:
        return _problem(unsayable(first.never))
    if isinstance(one, _Again):
        return BatchItem(200, Accepted(first.said.job, first.said.tenant, one.asked.client, repeated=True))
    try:
        return BatchItem(202, await settled(one.said, one.asked, one.word))
    except Problem as problem:
        return _problem(problem)


def _problem(problem: Problem) -> BatchItem:
    wait = int(problem.headers.get("Retry-After", "0"))
    return BatchItem(problem.body.status, problem=problem.body, retry_after=wait)


def _jobs(documents: list[dict[str, Any]]) -> list[Any]:
    found = documents[0].get("jobs") if len(documents) == 1 else None
    if not isinstance(found, list) or not found or set(documents[0]) != {"jobs"}:
        text = "the body is not an object with a list of jobs and nothing else"
        raise refused([Reason(Code.INVALID, text, "jobs", 'send {"jobs": [{"manifest": {...}}, ...]}')])
    if len(found) > MOST:
        text = f"holds {len(found)} jobs"
        raise refused([Reason(Code.TOO_LARGE, text, "jobs", f"send at most {MOST} in each request")])
    return found


__all__ = ["Batch", "BatchDoor", "BatchItem", "BatchResult"]
