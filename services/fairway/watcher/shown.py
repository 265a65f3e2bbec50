"""What the hub is told of the status of a member's object: with the word that it leads to, or by itself. Pure."""

from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct, structs

from fairway.domain.decision import Decision, Heard, Say, Step
from fairway.domain.events import message_id
from fairway.domain.job import Job, State
from fairway.watcher.object_owner import uid_of
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED
from fairway.workloads.kinds.registry import status

_encode = msgspec.json.Encoder(order="deterministic").encode
# The record is for ever: a larger status is told beside it (bytes of JSON).
MOST_IN_RECORD = 64 << 10
# One that is larger still does not go over the bus: a message may have a mebibyte, and the hub shows the next one.
MOST = 512 << 10
_OVER = (SUCCEEDED, FAILED)
_LIVES = (State.RESERVED, State.DISPATCHED, State.RUNNING)
_CARRY = wire.Running | wire.Succeeded | wire.Failed


class Sight(Struct, frozen=True):
    """What the object of a job's attempt shows."""

    job: Job
    attempt: int
    cluster: str
    manifest: dict[str, Any]

    @property
    def status(self) -> dict[str, Any]:
        found = self.manifest.get("status")
        return found if isinstance(found, dict) else {}


class MemberStatuses:
    """`seen` are those of the messages in hand, by the ids of these: only the present attempt speaks for a job. `said`
    is the attempt and the digest of the status that was told last of a job."""

    def __init__(self) -> None:
        self.seen: dict[str, Sight] = {}
        self.said: dict[str, tuple[int, str]] = {}

    def told(self, message: object) -> None:
        """A word was said: who has an attempt that is over is forgotten."""
        match message:
            case fleet.Shown(job=job, attempt=attempt, status=shown):
                self.said[job] = (attempt, digest(shown))
            case wire.Running() | wire.Succeeded() | wire.Failed() if message.status:
                self.said[message.job] = (message.attempt, digest(message.status))

    def forget(self, job: Job) -> None:
        """Of a job that waits, or is over, nothing more is told: an end is told with its word, or just after it."""
        if job.state not in (*_LIVES, State.SUCCEEDED, State.FAILED):
            self.said.pop(job.id, None)


def digest(shown: dict[str, Any]) -> str:
    return blake2b(_encode(shown), digest_size=12).hexdigest()


def with_status(statuses: MemberStatuses, heard: Heard[object], made: Decision, now: int) -> Decision:
    """The decision on what was seen, with its status, if that is news and speaks for a job of the hub."""
    sight = statuses.seen.get(heard.id)
    if sight is None or made.calls or not sight.status or not _speaks(sight):
        return made
    data = _encode(sight.status)
    mark = (sight.attempt, blake2b(data, digest_size=12).hexdigest())
    if statuses.said.get(sight.job.id) == mark or len(data) > MOST:
        return made
    if len(data) <= MOST_IN_RECORD and (carried := _carried(made, sight)) is not None:
        return carried
    if _failed_and_not_over(sight, made):
        return made
    return structs.replace(made, steps=(*made.steps, Step(events=(_shown(sight, now),))))


def _speaks(sight: Sight) -> bool:
    """Whether the member's object speaks for the job: it lives there and is not being taken out, or it ended there by
    itself; then only its end may still be told more exactly."""
    job = sight.job
    if not job.hub_uid or (job.attempt, job.cluster) != (sight.attempt, sight.cluster):
        return False
    if job.state in (State.SUCCEEDED, State.FAILED):
        return _state(sight) in _OVER
    return job.state in _LIVES and not job.removing


def _state(sight: Sight) -> str:
    assert sight.job.spec is not None, "a job with an attempt was admitted"
    return status(sight.manifest, sight.job.spec.workload, sight.status).state


def _failed_and_not_over(sight: Sight, made: Decision) -> bool:
    """Whether a failure is the job's end the record says, and nobody else."""
    ends = any(isinstance(say.message, _CARRY) for step in made.steps for say in step.events)
    return not sight.job.ended and not ends and _state(sight) == FAILED


def _carried(made: Decision, sight: Sight) -> Decision | None:
    """The word of the same attempt takes its status along; None: there is no such word."""
    steps = list(made.steps)
    for at, step in enumerate(steps):
        events = list(step.events)
        for place, say in enumerate(events):
            message = say.message
            if isinstance(message, _CARRY) and (message.job, message.attempt) == (sight.job.id, sight.attempt):
                events[place] = structs.replace(say, message=structs.replace(message, status=sight.status))
                steps[at] = structs.replace(step, events=tuple(events))
                return structs.replace(made, steps=tuple(steps))
    return None


def _shown(sight: Sight, now: int) -> Say:
    """Several watchers see the same change: the bus takes it once."""
    job = sight.job
    version = str((sight.manifest.get("metadata") or {}).get("resourceVersion") or "")
    message = fleet.Shown(
        at=now,
        job=job.id,
        tenant=job.tenant,
        attempt=sight.attempt,
        cluster=sight.cluster,
        version=version,
        status=sight.status,
    )
    name = message_id("shown", job.id, sight.attempt, uid_of(sight.manifest), version or digest(sight.status))
    return Say(name, subjects.shown(job.tenant), message)
