"""Kubernetes Events on objects of the hub: what they say. Pure."""

from typing import Any

from msgspec import Struct

from fairway.domain.events import message_id
from fairway.domain.job import Job
from fairway.explain import wording
from fairway.explain.events import narrate
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import HubObject
from fairway.workloads.kinds.registry import KINDS

KIND = "Event.v1"
# What the API server takes (core/v1 validation of events).
_MESSAGE = 1_024
_NAME = 200
_WARNINGS = (wire.Rejected, wire.Failed, wire.Lost)
# Why a claim came to nothing, where its owner can do something about that.
_IN_VAIN = (Code.NO_VICTIMS, Code.CLAIM_EXPIRED)
_REASONS: dict[type[wire.JobMessage], str] = {
    wire.Rejected: "Rejected",
    wire.Queue: "Queued",
    wire.Placed: "Placed",
    wire.Dispatched: "Dispatched",
    wire.Running: "Running",
    wire.Failed: "Failed",
    wire.Lost: "Lost",
    wire.Evicted: "Evicted",
    wire.Nominated: "Nominated",
    wire.Cancelled: "Cancelled",
    wire.Succeeded: "Succeeded",
}


class Note(Struct, frozen=True):
    """What is to be said of an object of the hub. `id` makes a second writing of it a no-op."""

    id: str
    about: HubObject
    reason: str
    text: str
    warning: bool = False


def note_of(one: HubObject, reason: str, text: str, cause: str) -> Note:
    """A note about an object that is not a job's (yet)."""
    return Note(message_id("note", one.uid, reason, cause), one, reason, text, warning=True)


def note_on(job: Job | None, message: wire.JobMessage, cause: str, dispatched: bool = True) -> Note | None:
    """What a job's message means for its object on the hub; None when there is no such object. `dispatched`: where the
    job went has been told already."""
    about = object_of(job, message)
    if about is None:
        return None
    # A queue return and a wait are known by what is lacking, a change by why it is not taken over, and a claim by why
    # nobody left for it; that is what `kubectl describe` should show.
    why = message.why if isinstance(message, wire.Queue | wire.Blocked | wire.Unchanged | wire.Unclaimed) else None
    if isinstance(message, wire.Unclaimed) and message.why.code not in _IN_VAIN:
        return None
    reason = why.code.value if why else _reason(job, message)
    if not reason:
        return None
    text = _text(job, message, dispatched) if job else f"{reason}."
    return Note(message_id("note", cause), about, reason, text, isinstance(message, _WARNINGS) or why is not None)


def _reason(job: Job | None, message: wire.JobMessage) -> str:
    """The word for a message; empty for one that is not told."""
    if isinstance(message, wire.Held):
        return "Suspended" if message.held else "Resumed"
    if isinstance(message, wire.Amended):
        changed = message.cluster or (job is not None and job.first_manifest is not None and message.queue)
        return "Changed" if changed else ""
    return _REASONS.get(type(message), "")


def _text(job: Job, message: wire.JobMessage, dispatched: bool) -> str:
    if isinstance(message, wire.Dispatched):
        return _dispatched(job, message.at)
    sentence, details = narrate(job, message)
    if isinstance(message, wire.Running | wire.Succeeded) and not dispatched:
        details = (_dispatched(job, 0),)
    return " ".join((sentence, *details))


def _dispatched(job: Job, at: int) -> str:
    """Everything between the submission and the cluster, in one sentence."""
    pods = sum(one.count for one in job.slots)
    nodes = wording.node_count(job.slots)
    where = f"{wording.many(pods, 'pod')} on {wording.many(nodes, 'node')}"
    tries = f"attempt {job.attempt} of {job.spec.attempts}" if job.spec and job.attempt > 1 else ""
    parts = (
        tries,
        f"queue {job.queue}" if job.queue else "",
        f"quota {job.leaf[-1]}" if job.leaf else "",
        f"{wording.span(at - job.submitted_at)} after submission" if at else "",
    )
    return f"Dispatched to {job.cluster}: {'; '.join((where, *filter(None, parts)))}."


def object_of(job: Job | None, message: wire.JobMessage) -> HubObject | None:
    """The object that a job stands for, as far as the job and its message know it."""
    spec = job.spec if job else None
    if spec is not None and spec.hub is not None:
        work = spec.workload
        return HubObject(work.key, work.namespace, work.name, spec.hub.uid, {})
    if isinstance(message, wire.Rejected) and message.hub is not None:
        plural = message.hub.plural
        kind = next((key for key, one in KINDS.items() if one.name == message.kind and one.plural == plural), "")
        return HubObject(kind or f"{message.kind}.", message.tenant, message.name, message.hub.uid, {})
    return None


def manifest_of(note: Note, now: int) -> dict[str, Any]:
    about = note.about
    # Objects without a namespace have their events in `default`, as kubectl looks for them there.
    namespace = about.namespace or "default"
    at = wording.rfc3339(now)
    involved = {
        "apiVersion": about.api_version,
        "kind": about.plain,
        "namespace": about.namespace,
        "name": about.name,
        "uid": about.uid,
    }
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{about.name[:_NAME].rstrip('-.')}.{note.id}", "namespace": namespace},
        "involvedObject": {key: value for key, value in involved.items() if value},
        "reason": note.reason,
        "message": cut(note.text),
        "type": "Warning" if note.warning else "Normal",
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
        "source": {"component": "fairway"},
        "reportingComponent": "fairway.io/hub",
        "reportingInstance": "hub",
    }


def cut(text: str) -> str:
    return text if len(text) <= _MESSAGE else f"{text[: _MESSAGE - 3]}..."
