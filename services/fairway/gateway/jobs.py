"""Questions about jobs: the list in pages, one job, why it is where it is, its story; and its cancellation."""

import asyncio

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.domain import decision
from fairway.domain.job import Job, State
from fairway.gateway.answers import JobRow, job_row
from fairway.gateway.decide import cancellation
from fairway.gateway.problem import Problem, answer
from fairway.gateway.reader import Reader
from fairway.gateway.submit import Door
from fairway.runtime.loop import World
from fairway.runtime.ports import Unreachable
from fairway.runtime.story import story_of, why
from fairway.wire import asks

_MOST, _USUAL = 500, 100
# Every story reads the record through a consumer of its own.
_STORIES = 8
_PLACE_S = 0.5


class JobPage(Struct, frozen=True, omit_defaults=True, rename={"resume": "continue"}):
    """`continue` goes into the next request; absent: this was the last page. A page may be shorter than its limit, or
    empty, and still not be the last."""

    items: tuple[JobRow, ...]
    resume: str = ""


class Cancelling(Struct, frozen=True):
    job: str
    state: str
    text: str


class Jobs:
    def __init__(self, world: World, door: Door) -> None:
        self._world, self._door = world, door
        self._rows = Reader(world.store)
        self._stories = asyncio.Semaphore(_STORIES)

    async def list(self, request: Request) -> Response:
        query = request.query_params
        states = _states(query.get("state", ""))
        namespace, most = query.get("namespace", ""), _limit(query.get("limit", ""))
        # Jobs that have not ended are found without looking at all those that have.
        live = bool(states) and not any(State(one) in _ENDED for one in states)
        table, after = decision.LIVE if live else decision.JOBS, query.get("continue", "")

        def passes(job: Job) -> bool:
            return (not states or job.state.value in states) and (not namespace or job.tenant == namespace)

        jobs, resume = await self._rows.page(table, after, most, passes)
        return answer(JobPage(tuple(map(job_row, jobs)), resume))

    async def one(self, request: Request) -> Response:
        return answer(await self._job(request))

    async def why(self, request: Request) -> Response:
        job = await self._job(request)
        place = await self._place(job) if job.state is State.QUEUED else None
        return answer(why(job, place, self._world.clock.now(), await self._rows.frozen()))

    async def story(self, request: Request) -> Response:
        job = await self._job(request)
        async with self._stories:
            return answer(await story_of(self._world.bus, self._rows, job.id))

    async def cancel(self, request: Request) -> Response:
        job, who = await self._job(request), self._door.caller(request)
        await self._door.publish(cancellation(job.id, job.tenant, who, self._world.clock.now()))
        if job.ended:
            text = f"it has ended already: {job.state.value}; what is left of it in a cluster is being removed"
            return answer(Cancelling(job.id, job.state.value, text))
        return answer(Cancelling(job.id, job.state.value, "its cancellation is on its way; follow it with why"), 202)

    async def _job(self, request: Request) -> Job:
        name: str = request.path_params["id"]
        job = await self._rows.job(name)
        if job is None:
            raise Problem(404, f"there is no job {name[:80]}", "GET /v1/jobs lists the jobs by their ids")
        return job

    async def _place(self, job: Job) -> asks.QueuePlace | None:
        """Its place in the queue; None when the queue service does not answer: the row must do then."""
        question = msgspec.json.encode(asks.QueueAsk(job.id))
        try:
            place = msgspec.json.decode(
                await self._world.bus.ask(asks.QUEUE, question, timeout=_PLACE_S), type=asks.QueuePlace
            )
        except (Unreachable, OSError, TimeoutError, msgspec.DecodeError):
            return None
        return place if place.queue else None


_ENDED = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED, State.REJECTED})


def _states(text: str) -> frozenset[str]:
    known = sorted(one.value for one in State)
    states = frozenset(filter(None, text.split(",")))
    if "live" in states:
        states = states - {"live"} | {one.value for one in State if one not in _ENDED}
    unknown = sorted(states.difference(known))
    if unknown:
        raise Problem(400, f"state {unknown[0][:40]!r} is not known", f"use live, or some of {', '.join(known)}")
    return states


def _limit(text: str) -> int:
    if not text:
        return _USUAL
    if not text.isdecimal() or not 1 <= int(text[:9]) <= _MOST:
        raise Problem(400, f"limit={text[:20]!r} is not a page size", f"use a number from 1 to {_MOST}")
    return int(text)
