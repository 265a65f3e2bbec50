"""Questions about jobs: the list in pages, one job, why it is where it is, its story; and its cancellation."""

import asyncio
from collections.abc import Sequence

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.domain.held_object import HeldObject
from fairway.domain.job import Job, State
from fairway.domain.submission import cancellation
from fairway.domain.text.decoding import decoder
from fairway.domain.text.digits import is_whole
from fairway.explain.story import story_of, why
from fairway.gateway.callers.access import Access, access_of
from fairway.gateway.callers.caller import GROUP, JOBS, AccessQuestion
from fairway.gateway.callers.guarded_routes import refused_parameter
from fairway.gateway.callers.page_cursor import PageCursor
from fairway.gateway.callers.redaction import Redaction
from fairway.gateway.callers.rights_of_kinds import cancelling
from fairway.gateway.held_objects import HeldObjects, HeldPart, answer_of, not_submitted
from fairway.gateway.http.answers import JobRow, job_row
from fairway.gateway.http.problem import Problem, answer
from fairway.gateway.http.submit import Door
from fairway.gateway.list_filter import list_filter
from fairway.gateway.reader import ALL_JOBS, LIVE_JOBS, Reader
from fairway.runtime.ports import Unreachable, World
from fairway.runtime.record.found_reader import FoundReader
from fairway.wire import asks

_MOST = 500
_USUAL = 100
_MOST_NAMED = 100
# Every story reads the record through a consumer of its own.
_STORIES = 8
_PLACE_S = 0.5
_placed = decoder(asks.QueueAnswer)


class JobPage(Struct, frozen=True, omit_defaults=True, rename={"resume": "continue"}):
    """`continue` goes into the next request; absent: this was the last page. A page may be shorter than its limit, or
    empty, and still not be the last."""

    items: tuple[JobRow, ...]
    resume: str = ""


class Cancelling(Struct, frozen=True):
    job: str
    state: str
    text: str


class JobQuestions:
    def __init__(self, world: World, door: Door) -> None:
        self._world = world
        self._door = door
        self._rows = Reader(world.store)
        self._found = FoundReader(world.bus)
        self._held = HeldObjects(world, self._rows)
        self._seal = PageCursor()
        self._stories = asyncio.Semaphore(_STORIES)

    async def list(self, request: Request) -> Response:
        query = request.query_params
        access = access_of(request)
        wanted = list_filter(query)
        most = _limit(query.get("limit", ""))
        if wanted.namespace and not await access.everywhere("list"):
            await access.need(AccessQuestion("list", JOBS, namespace=wanted.namespace))

        async def passes(one: Job | HeldObject) -> bool:
            namespace = one.namespace if isinstance(one, HeldObject) else one.tenant
            return wanted.takes(one) and await access.jobs("list", namespace)

        if "id" in query:
            if "continue" in query:
                text = "continue goes with no id: the jobs that are named are one page"
                raise refused_parameter("continue", text, "leave it out")
            names = _names(query["id"])
            jobs = await self._rows.some(names, passes)
            held = HeldPart(await self._held.some({*names} - {job.id for job in jobs}, passes))
            return await self._page(access, held, jobs, "")
        held = HeldPart(after=self._seal.open(query.get("continue", "")))
        if wanted.held:
            held = await self._held.part(held.after, most, passes)
        if held.resume or not wanted.jobs:
            return await self._page(access, held, (), held.resume)
        # Jobs that have not ended are found without looking at all those that have.
        listed = LIVE_JOBS if wanted.live else ALL_JOBS
        jobs, resume = await self._rows.page(listed, held.after, most - len(held.rows), passes)
        return await self._page(access, held, jobs, resume)

    async def _page(self, access: Access, held: HeldPart, jobs: Sequence[Job], resume: str) -> Response:
        # Asked once more where nothing was asked yet: of a list that is empty, too.
        own = held.own or bool(jobs and jobs[-1].id == resume)
        if not await access.everywhere("list") and resume and not own:
            resume = self._seal.close(resume)
        waiting = tuple(job.id for job in jobs if job.state is State.QUEUED)
        places = await self._places(access, asks.QueueAsk("", waiting)) if waiting else {}
        return answer(JobPage((*held.rows, *(job_row(job, places.get(job.id)) for job in jobs)), resume))

    async def one(self, request: Request) -> Response:
        job = await self._job(request)
        return answer(answer_of(job) if isinstance(job, HeldObject) else await self._found.job(job))

    async def why(self, request: Request) -> Response:
        job = await self._job(request)
        if isinstance(job, HeldObject):
            return answer(await self._held.why(job, access_of(request)))
        asked = asks.QueueAsk(job.id)
        places = await self._places(access_of(request), asked) if job.state is State.QUEUED else {}
        job = await self._found.job(job)
        return answer(why(job, places.get(job.id), self._world.clock.now(), await self._rows.frozen()))

    async def story(self, request: Request) -> Response:
        job = await self._job(request)
        async with self._stories:
            if isinstance(job, HeldObject):
                return answer(await self._held.story(job, access_of(request)))
            return answer(await story_of(self._world.bus, self._rows, job.id))

    async def cancel(self, request: Request) -> Response:
        name = request.path_params["id"]
        access = access_of(request)
        job = await self._rows.job(name)
        if job is None:
            held = await self._held.one(name, access)
            raise not_submitted(held) if held is not None else _unknown(name)
        if not await access.may(cancelling(job)):
            problem = access.forbidden(cancelling(job))
            raise problem if await access.jobs("get", job.tenant) else _unknown(name)
        await self._door.publish([cancellation(job.id, job.tenant, access.actor, self._world.clock.now())])
        if job.ended:
            text = f"it has ended already: {job.state.value}; what is left of it in a cluster is being removed"
            return answer(Cancelling(job.id, job.state.value, text))
        return answer(Cancelling(job.id, job.state.value, "its cancellation is on its way; follow it with why"), 202)

    async def submitted(self, request: Request) -> Job:
        """The job that is asked for; Problem (404) for one that the caller may not see."""
        job = await self._job(request)
        if isinstance(job, HeldObject):
            raise not_submitted(job)
        return job

    async def _job(self, request: Request) -> Job | HeldObject:
        name: str = request.path_params["id"]
        access = access_of(request)
        job = await self._rows.job(name)
        if job is not None and await access.jobs("get", job.tenant):
            return job
        held = await self._held.one(name, access)
        if held is None or job is not None:
            if job is not None:
                access.denied(AccessQuestion("get", JOBS, namespace=job.tenant))
            raise _unknown(name)
        return held

    async def _places(self, access: Access, asked: asks.QueueAsk) -> dict[str, asks.QueuePlace]:
        """Where jobs stand in their queues, as far as the caller may know; none when the queue service does not answer:
        their rows must do then."""
        try:
            data = await self._world.bus.ask(asks.QUEUE, msgspec.json.encode(asked), timeout=_PLACE_S)
            said = _placed(data)
        except (Unreachable, OSError, TimeoutError, msgspec.DecodeError):
            return {}
        both = zip((asked.job, *asked.also), (said, *said.also), strict=False)
        found = {name: place for name, place in both if place.queue}
        return dict(zip(found, await Redaction(self._rows, access).places(list(found.values())), strict=True))


def _unknown(name: str) -> Problem:
    """The same for a job that is not there and for one that the caller may not see: who asks learns nothing."""
    detail = f"GET /v1/jobs lists the jobs that you may see; `kubectl auth can-i get {JOBS}.{GROUP} -n NAMESPACE` tells"
    return Problem(404, f"there is no job {name[:80]}", detail)


def _names(text: str) -> list[str]:
    names = [one for one in text.split(",") if one]
    if len(names) > _MOST_NAMED:
        raise Problem(400, f"id names {len(names)} jobs", f"name at most {_MOST_NAMED} in each request")
    return names


def _limit(text: str) -> int:
    if not text:
        return _USUAL
    if not is_whole(text, 9) or not 1 <= int(text) <= _MOST:
        raise Problem(400, f"limit={text[:20]!r} is not a page size", f"use a number from 1 to {_MOST}")
    return int(text)
