"""The status of a member's object, told to the hub as it changes: in the event that it leads to, or by itself. Pure.

Who speaks for a job is the object of its present attempt, while it lives there and nobody takes it out, and after the
end that it showed itself. Several watchers see the same change and say the same under one id.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import structs

from fairway.domain.decision import Decision, Heard, Say, Step
from fairway.domain.events import message_id
from fairway.domain.job import Job, State
from fairway.watcher import object_owner
from fairway.watcher.missing import PRESENT, StatusSaid, View
from fairway.watcher.object_owner import Observed
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.workloads.hub_status import as_seen
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED
from fairway.workloads.kinds.registry import KINDS, status

Json = dict[str, Any]
# The record is for ever, and everybody who folds a job reads it: a larger status (an Argo Workflow with thousands of
# nodes) is told beside it, in a stream that forgets.
_MOST_RECORDED = 64 << 10
# The bus takes a megabyte with its headers, and the hub's etcd an object of 1.5 MiB, its spec included: what is larger
# than half of the first would be a dead letter, or refused there. The hub shows then what the events say.
_MOST_SAID = 512 << 10
_ENDS = {State.SUCCEEDED: SUCCEEDED, State.FAILED: FAILED}
_Carrier = wire.Running | wire.Succeeded | wire.Failed
_encode = msgspec.json.Encoder(order="deterministic").encode


def with_status(view: View, heard: Heard[object], message: Observed, decided: Decision, now: int) -> Decision:
    """What was decided on what was seen, with the status if that is news."""
    job = view.jobs.get(message.job)
    seen = object_owner.identified(job, message) if job is not None and job.hub_uid else None
    if job is None or seen is None or decided.calls or not _is_present(job, seen):
        return decided
    shown = seen.manifest.get("status")
    if not shown or not isinstance(shown, dict) or len(data := _encode(shown)) > _MOST_SAID:
        return decided
    step = decided.steps[-1] if decided.steps else Step()
    if any(isinstance(say.message, _Carrier) for say in step.events):
        carried = len(data) <= _MOST_RECORDED
        events = _carrying(step, shown) if carried else (*step.events, _say(job, seen, shown, now))
        return structs.replace(decided, steps=(*decided.steps[:-1], structs.replace(step, events=events)))
    # What is looked at again is said then: with the event that it leads to, if it leads to one.
    known = view.said.get(job.id) == StatusSaid(job.attempt, _digest(data))
    if known or decided.again_in is not None or not _speaks(view, job, seen, shown):
        return decided
    if _in_doubt(heard, seen) and not job.ended:
        return decided
    return structs.replace(decided, steps=(*decided.steps, Step(events=(_say(job, seen, shown, now),))))


def said_in(step: Step) -> Iterator[tuple[str, StatusSaid]]:
    """Which statuses a step says, of which jobs."""
    for say in step.events:
        match message := say.message:
            case fleet.Shown() | wire.Running() | wire.Succeeded() | wire.Failed() if message.status:
                yield message.job, StatusSaid(message.attempt, _digest(_encode(message.status)))


def goes_on(job: Job) -> bool:
    """Whether anything may still be said of a job's present attempt: of one that is over, if an operator of its kind
    may still count the last pods. What an API server has of a batch Job that ended stays."""
    if job.state in PRESENT:
        return True
    return job.state in _ENDS and job.spec is not None and KINDS[job.spec.workload.key].ends.shows is as_seen


def _is_present(job: Job, seen: Observed) -> bool:
    """Whether it is the object of the present attempt, and can be found by its labels."""
    if not seen.whole or (job.attempt, job.cluster) != (seen.attempt, seen.cluster):
        return False
    return job.uid in ("", object_owner.uid_of(seen.manifest))


def _in_doubt(heard: Heard[object], seen: Observed) -> bool:
    """Somebody has written to its spec, and it was not found to be ours all the same."""
    answer = heard.outcomes[-1] if heard.outcomes else None
    return seen.doubt is not None and (answer is None or not answer.ok or bool(answer.body))


def _speaks(view: View, job: Job, seen: Observed, shown: Json) -> bool:
    """While a job lives, a status that is an end is news of the record, which says whose end it is. After the end only
    the same end grows."""
    if job.spec is None or seen.place < view.newest.get(job.id, 0) or not goes_on(job):
        return False
    state = status(seen.manifest, job.spec.workload, shown).state
    if job.ended:
        return state == _ENDS[job.state]
    return not job.removing and state not in (SUCCEEDED, FAILED)


def _carrying(step: Step, shown: Json) -> tuple[Say, ...]:
    return tuple(
        structs.replace(say, message=structs.replace(say.message, status=shown))
        if isinstance(say.message, _Carrier)
        else say
        for say in step.events
    )


def _say(job: Job, seen: Observed, shown: Json, now: int) -> Say:
    version = str((seen.manifest.get("metadata") or {}).get("resourceVersion") or "")
    # Without a version nothing tells two statuses apart but what they say.
    name = message_id("shown", job.id, seen.attempt, object_owner.uid_of(seen.manifest), version or _encode(shown))
    message = fleet.Shown(
        at=now,
        job=job.id,
        tenant=job.tenant,
        attempt=seen.attempt,
        cluster=seen.cluster,
        version=version,
        status=shown,
    )
    return Say(name, subjects.shown(job.tenant), message)


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()
