"""What happened to a job, from the record: attempt by attempt, with the decision behind each step."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.job import Job
from fairway.domain.text.decoding import decoder
from fairway.explain.events import narrate
from fairway.explain.why import Why, why
from fairway.runtime.ports import Bus, Delivery, ReadRows, Wanted
from fairway.runtime.record.found_reader import FoundReader
from fairway.runtime.record.senders import in_place
from fairway.runtime.record.working_sets import working_sets
from fairway.wire import jobs as wire
from fairway.wire import subjects

_decode = decoder(wire.Message)
_job = decoder(Job)


class Line(Struct, frozen=True, omit_defaults=True):
    """One step. `after` is the time since the step before, in ms; `details` the decision behind it."""

    at: int
    attempt: int
    what: str
    sentence: str
    after: int = 0
    details: tuple[str, ...] = ()
    cluster: str = ""
    sequence: int = 0


class Story(Struct, frozen=True, omit_defaults=True):
    """`missing` are revisions that the job's row knows and the record did not show (yet). `record` are the messages
    themselves, a manifest replaced by its size: environment variables are nobody else's business."""

    job: str
    tenant: str
    state: str
    attempt: int
    kind: str = ""
    name: str = ""
    lines: tuple[Line, ...] = ()
    missing: tuple[int, ...] = ()
    record: tuple[dict[str, Any], ...] = ()


Recorded = tuple[int, wire.JobMessage]


class Reads(Protocol):
    """The part of a store that a story needs."""

    async def read(self, wanted: Wanted) -> ReadRows: ...


async def story_of(bus: Bus, store: Reads, job_id: str) -> Story | None:
    """None: no such job. Reads the tenant's messages from the job's submission on, until its last revision."""
    found = await store.read(Wanted(rows={decision.JOBS: [job_id]}))
    row = found.rows.get((decision.JOBS, job_id))
    if row is None:
        return None
    job = _job(row.data)
    reader = FoundReader(bus)
    return compose(job, [(place, await reader.message(message)) for place, message in await _recorded(bus, job)])


def compose(job: Job, recorded: Sequence[Recorded]) -> Story:
    """The story of these messages, which may repeat one another; they are told in the order of the job's revisions,
    commands where they stand in the record."""
    ordered = _ordered(recorded)
    work = job.spec.workload if job.spec else None
    seen = {message.rev for _, message in ordered}
    rejected = next((one for _, one in ordered if isinstance(one, wire.Rejected)), None)
    return Story(
        job=job.id,
        tenant=job.tenant,
        state=job.state.value,
        attempt=job.attempt,
        kind=work.kind if work else rejected.kind if rejected else "",
        name=work.name if work else rejected.name if rejected else "",
        lines=_lines(job, ordered),
        missing=tuple(rev for rev in range(1, job.rev + 1) if rev not in seen),
        record=tuple(_plain(message) for _, message in ordered),
    )


def _lines(job: Job, ordered: Sequence[Recorded]) -> tuple[Line, ...]:
    lines: list[Line] = []
    attempt = 1
    for sequence, message in ordered:
        # Commands and the submission carry no attempt: they belong to the one that was on when they came.
        attempt = max(attempt, message.attempt)
        text, details = narrate(job, message)
        after = max(0, message.at - lines[-1].at) if lines else 0
        cluster = getattr(message, "cluster", "")
        lines.append(Line(message.at, attempt, message.verb, text, after, details, cluster, sequence))
    return tuple(lines)


def _ordered(recorded: Sequence[Recorded]) -> list[Recorded]:
    """Each message once. A revision said late (after a crash) goes where it belongs; commands stay behind the
    revision that stood before them in the record."""
    keyed: dict[tuple[int, int], Recorded] = {}
    seen = set()
    last = 0
    for sequence, message in sorted(recorded, key=lambda one: one[0]):
        if message.rev in seen:
            continue
        if message.rev:
            seen.add(message.rev)
            last = max(last, message.rev)
        keyed[message.rev or last, sequence] = (sequence, message)
    return [keyed[key] for key in sorted(keyed)]


def _plain(message: wire.JobMessage) -> dict[str, Any]:
    if isinstance(message, wire.Manifested):
        size = msgspec.Raw(msgspec.json.encode({"size": len(bytes(message.manifest))}))
        message = msgspec.structs.replace(message, manifest=size, policies=())
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(message))
    return plain


async def _recorded(bus: Bus, job: Job) -> list[Recorded]:
    first = await _first(bus, job)
    found: list[Recorded] = []
    left = set(range(1, job.rev + 1))
    mark = job.id.encode()
    sets = await working_sets(bus)
    async with aclosing(bus.history(subjects.JOBS, [subjects.job("*", job.tenant)], start=max(first, 1))) as past:
        async for one in past:
            if one.sequence != first and mark not in one.data:
                continue
            message = _read(one)
            if message is None or (message.job != job.id and one.sequence != first):
                continue
            if message.tenant != job.tenant or not in_place(one.subject, message):
                continue  # somebody spoke for another
            if sets.late(message, one.sequence):
                continue  # nobody acted on it
            found.append((one.sequence, message))
            left.discard(message.rev)
            if not left:
                break
    if first not in {sequence for sequence, _ in found}:
        found += await _removals(bus, job, max((sequence for sequence, _ in found), default=0))
    return found


async def _removals(bus: Bus, job: Job, after: int) -> list[Recorded]:
    """What stays of the manifests of an ended job, said long after its end."""
    mark = job.id.encode()
    found: dict[int, Recorded] = {}
    where = subjects.job(wire.ManifestsRemoved.verb, job.tenant)
    async with aclosing(bus.history(subjects.JOBS, [where], start=after + 1)) as past:
        async for one in past:
            message = _read(one) if mark in one.data else None
            if isinstance(message, wire.ManifestsRemoved) and (message.job, message.tenant) == (job.id, job.tenant):
                # A keeper that died says it once more.
                found.setdefault(message.removed[0].sequence, (one.sequence, message))
    return list(found.values())


async def _first(bus: Bus, job: Job) -> int:
    """The sequence of the submission. A job that was never understood has no spec; its rejection names it."""
    if job.submitted_as is not None:
        return job.submitted_as.sequence
    async with aclosing(bus.history(subjects.JOBS, [subjects.job(wire.Rejected.verb, job.tenant)])) as past:
        async for one in past:
            message = _read(one) if job.id.encode() in one.data else None
            if isinstance(message, wire.Rejected) and message.job == job.id:
                return message.manifest.sequence if message.manifest else one.sequence
    return 0


def _read(one: Delivery) -> wire.JobMessage | None:
    try:
        message: wire.JobMessage = _decode(one.data)
    except msgspec.DecodeError:
        return None  # its consumer has put it among the dead letters
    return message


__all__ = ["Line", "Story", "Why", "compose", "story_of", "why"]
