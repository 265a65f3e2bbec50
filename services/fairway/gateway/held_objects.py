"""The hub's objects that are held and not submitted, where jobs are listed and asked about."""

from collections.abc import Collection, Iterable

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.held_object import STATE, HeldObject
from fairway.domain.job import Job
from fairway.domain.names import job_id
from fairway.domain.submission import HUB_CLIENT
from fairway.explain.held import NameHolder, refusals, story_of_held, title, why_held
from fairway.explain.story import Story
from fairway.explain.why import Why
from fairway.gateway.callers.access import Access
from fairway.gateway.http.answers import JobRow, bodies
from fairway.gateway.http.problem import Problem
from fairway.gateway.reader import HELD_OBJECTS, Passes, Reader, decoded
from fairway.runtime.ports import Wanted, World
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Reason
from fairway.workloads.kinds.registry import KINDS

# A page that begins with it goes on among the held objects, which come before all jobs. No job id holds a slash.
_MARK = f"{STATE}/"


class HeldAnswer(Struct, frozen=True, omit_defaults=True):
    """An object of the hub that is held there: `state` is `held`. `id` is that of the job that will stand for it, or
    the object's own uid while that is not known; `holder` the id of another job, live, that has its name."""

    id: str
    tenant: str
    state: str
    kind: str
    name: str
    uid: str
    since: int
    why: Reason
    holder: str = ""


class HeldPart(Struct, frozen=True):
    """What of a page are held objects; `resume` is where the next page goes on, unless jobs follow, behind `after`.
    `own`: it names nothing that is not shown."""

    rows: tuple[JobRow, ...] = ()
    after: str = ""
    resume: str = ""
    own: bool = False


def answer_of(one: HeldObject) -> HeldAnswer:
    return HeldAnswer(one.id, one.namespace, STATE, one.plain, one.name, one.uid, one.since, one.why, one.holder)


def row_of_held(one: HeldObject) -> JobRow:
    return JobRow(
        id=one.id,
        namespace=one.namespace,
        state=STATE,
        attempt=0,
        submitted_at=one.since,
        since=one.since,
        kind=one.plain,
        name=one.name,
        reason=one.why.code.value,
        text=one.why.text,
        hub=True,
        who=str(Actor(f"{HUB_CLIENT}{one.namespace}", "hub", one.uid)),
    )


class HeldObjects:
    """A live job counts before an object of its id: the hub is about to let go of that one. One that has ended was an
    earlier job of the object, which is asked for by its uid then."""

    def __init__(self, world: World, rows: Reader) -> None:
        self._world = world
        self._rows = rows

    async def one(self, name: str, access: Access) -> HeldObject | None:
        """By its uid, or the id that its job will have; None: the caller may not see it, either."""
        for held in await self._known([name]):
            if await access.jobs("get", held.namespace):
                return held
        return None

    async def some(self, names: Iterable[str], passes: Passes[HeldObject]) -> tuple[JobRow, ...]:
        """Those of these that are held and pass."""
        return tuple([row_of_held(one) for one in await self._known(names) if await passes(one)])

    async def _known(self, names: Iterable[str]) -> list[HeldObject]:
        held = {one.uid: one for one in (await self._rows.held(names)).values()}
        return await self._present(held.values())

    async def part(self, after: str, most: int, passes: Passes[HeldObject]) -> HeldPart:
        """Of the page that goes on behind `after`."""
        if after and not after.startswith(_MARK):
            return HeldPart(after=after)
        held, resume = await self._rows.page(HELD_OBJECTS, after.removeprefix(_MARK), most, passes)
        last = held[-1].uid if held else ""
        if len(held) == most:
            resume = last  # jobs may follow
        rows = tuple(map(row_of_held, await self._present(held)))
        return HeldPart(rows, resume=f"{_MARK}{resume}" if resume else "", own=bool(resume) and resume == last)

    async def _present(self, held: Collection[HeldObject]) -> list[HeldObject]:
        jobs = await self._rows.jobs(one.job for one in held if one.job) if held else {}
        return [
            msgspec.structs.replace(one, job="") if one.job in jobs else one
            for one in held
            if one.job not in jobs or jobs[one.job].ended
        ]

    async def why(self, one: HeldObject, access: Access) -> Why:
        return why_held(one, await self._holder(one, access), self._world.clock.now())

    async def story(self, one: HeldObject, access: Access) -> Story:
        refused = await refusals(self._world.bus, one)
        told = {message.job for message in refused}
        jobs = [job for job in await self._jobs_of(one) if job.id not in told]
        holder = await self._holder(one, access)
        return story_of_held(one, jobs, refused, holder.sentence if holder else "")

    async def _holder(self, one: HeldObject, access: Access) -> NameHolder | None:
        if not one.holder:
            return None
        job = (await self._rows.jobs([one.holder])).get(one.holder)
        visible = job is not None and await access.jobs("get", job.tenant)
        return NameHolder(one.holder, job if visible else None)

    async def _jobs_of(self, one: HeldObject) -> list[Job]:
        """What was submitted for this object before: under its own id, and as its newest job that was admitted."""
        client = f"{one.namespace}/{HUB_CLIENT}{one.uid}"
        row = (await self._rows.read(Wanted(rows={decision.CLIENTS: [client]}))).rows.get((decision.CLIENTS, client))
        newest = decoded(row.data, tuple[str, str])[0] if row else ""
        names = {job_id(one.namespace, f"{HUB_CLIENT}{one.uid}", one.name), newest} - {""}
        found = (await self._rows.jobs(names)).values()
        return [job for job in found if job.hub_uid == one.uid and job.tenant == one.namespace]


def not_submitted(one: HeldObject) -> Problem:
    """There is nothing of it to cancel; another job of its name is not meant."""
    kind = KINDS.get(one.kind)
    plural = f"{kind.plural}.{one.kind.partition('.')[2].rpartition('/')[0]}" if kind else one.plain.lower()
    other = f"; job {one.holder}, which has its name, is cancelled by its own id" if one.holder else ""
    detail = f"delete it there: kubectl delete {plural.rstrip('.')} {one.name} -n {one.namespace}{other}"
    text = f"{title(one)} is held on the hub and not submitted: there is no job to cancel"
    return Problem(409, text, detail, code=one.why.code.value, job=one.job, reasons=bodies([one.why]))
