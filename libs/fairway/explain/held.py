"""Why an object of the hub is held there, and what was recorded of it. Nothing of it is submitted: no job explains it,
and another job of its name least of all. That one is named, as another."""

from collections.abc import Iterable, Sequence
from contextlib import aclosing

import msgspec
from msgspec import Struct

from fairway.domain.held_object import STATE, HeldObject
from fairway.domain.job import Job, State
from fairway.explain import wording
from fairway.explain.events import reason
from fairway.explain.story import Line, Story
from fairway.explain.why import Why
from fairway.runtime.ports import Bus
from fairway.runtime.record.senders import message_of
from fairway.runtime.record.working_sets import working_sets
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.reasons import Code

# The hub submits these by itself: the remedy of their reason is for who is refused at another door.
_BY_ITSELF: dict[Code, str] = {
    Code.TOO_MANY_PENDING: "jobs of its namespace go to a cluster or end: it is then submitted by itself",
    Code.TOO_FAST: "its turn comes: it is then submitted by itself",
    Code.TOO_MANY_BYTES: "its namespace may submit so many bytes again: it is then submitted by itself",
}
_SELECTED = "a policy that is there is changed so that it selects it"
_CHANGED = "its object is changed on the hub: it is looked at again at once"
_FREED = "the hub takes its object up, now that the name is free"


class NameHolder(Struct, frozen=True):
    """The job that has the name of a held object. `job` None: it is not known any more, or not to whoever asks."""

    id: str
    job: Job | None = None

    @property
    def gone(self) -> bool:
        return self.job is not None and self.job.ended and not self.job.removing

    @property
    def sentence(self) -> str:
        """Of a known one: `its name is taken by job train-x, which ada (over HTTP) submitted, and which is running in
        c1`."""
        job = self.job
        if job is None:
            return "its name is taken by another job"
        if self.gone:
            return f"job {job.id}, which had its name, has ended: {job.state.value}"
        return f"its name is taken by job {job.id}{_origin(job)}, and which {_stands(job)}"


def _origin(job: Job) -> str:
    """Who asked for it, and through which door."""
    if job.hub_uid:
        return f", which stands for an earlier object of that name (uid {job.hub_uid})"
    who = job.spec.who if job.spec else None
    return f", which {who} submitted" if who else ", which did not come from the hub"


def _stands(job: Job) -> str:
    if there := job.removing or (job.cluster if job.cancelling else ""):
        return f"is still being removed from {there}"
    if job.cancelling:
        return "is being cancelled"
    return f"is {job.state.value}" + (f" in {job.cluster}" if job.cluster else "")


def why_held(one: HeldObject, holder: NameHolder | None, now: int) -> Why:
    text = f"{one.why.field}: {one.why.text}" if one.why.field else one.why.text
    # What its reason says of another job is as old as the holding; the job's row is of now.
    because = holder.sentence if holder is not None and holder.job is not None else text
    held = f"is held on the hub since {wording.moment(one.since)} ({wording.span(now - one.since)})"
    return Why(
        job=one.id,
        tenant=one.namespace,
        state=STATE,
        reason=one.why.code.value,
        where=f"{title(one)} {held}; it is not submitted.",
        because=wording.sentence(because),
        since=one.since,
        now=now,
        kind=one.plain,
        name=one.name,
        moves=tuple(map(wording.sentence, _moves(one, holder))),
        next_event=wire.Submitted.verb,
    )


def _moves(one: HeldObject, holder: NameHolder | None) -> tuple[str, ...]:
    """What would let it go, any one of these."""
    if holder is not None and holder.gone:
        return (_FREED,)
    if holder is not None:
        other = f"job {holder.id}" if holder.job is not None else "that job"
        ends = f"{other} ends, or is cancelled and nothing of it is left in a cluster"
        return ends, "this object is applied under another name"
    if one.why.code in _BY_ITSELF:
        return (_BY_ITSELF[one.why.code],)
    more = _SELECTED if one.why.code is Code.NO_POLICY else ""
    return tuple(filter(None, (one.why.remedy, more))) or (_CHANGED,)


def story_of_held(one: HeldObject, jobs: Iterable[Job], refused: Sequence[wire.Rejected], holder: str) -> Story:
    """`jobs` and refusals are of earlier submissions of this object, and told as such; `holder` says who has its
    name."""
    lines = [*map(_refused, refused), *map(_earlier, jobs)]
    lines.sort(key=lambda line: line.at)
    text = f"Held on the hub and not submitted: {reason(one.why)}."
    lines.append(Line(one.since, 0, STATE, text, details=(wording.sentence(holder),) if holder else ()))
    return Story(
        job=one.id,
        tenant=one.namespace,
        state=STATE,
        attempt=0,
        kind=one.plain,
        name=one.name,
        lines=tuple(msgspec.structs.replace(line, after=max(0, line.at - was.at)) for was, line in _pairs(lines)),
    )


def _pairs(lines: Sequence[Line]) -> Iterable[tuple[Line, Line]]:
    """Each with the one before it; the first with itself."""
    return zip([lines[0], *lines], lines, strict=False)


def _refused(message: wire.Rejected) -> Line:
    count = wording.many(len(message.reasons), "reason")
    text = f"Earlier job {message.job} of this object was rejected for {count}."
    return Line(message.at, 0, message.verb, text, details=tuple(map(reason, message.reasons)))


def _earlier(job: Job) -> Line:
    end = f": {reason(job.why)}" if job.why and job.state is not State.SUCCEEDED else ""
    text = f"Earlier job {job.id} of this object {'ended' if job.ended else 'is'} {job.state.value}{end}."
    return Line(job.since, 0, job.state.value, text)


def title(one: HeldObject) -> str:
    return f"{one.plain} {one.namespace}/{one.name}"


async def refusals(bus: Bus, one: HeldObject) -> list[wire.Rejected]:
    """Every refusal of a job of this object, from its tenant's record."""
    mark = one.uid.encode()
    found: list[wire.Rejected] = []
    sets = await working_sets(bus)
    async with aclosing(bus.history(subjects.JOBS, [subjects.job(wire.Rejected.verb, one.namespace)])) as past:
        async for each in past:
            message = message_of(each) if mark in each.data else None
            if not isinstance(message, wire.Rejected) or sets.late(message, each.sequence):
                continue
            if message.hub is not None and message.hub.uid == one.uid:
                found.append(message)
    return found
