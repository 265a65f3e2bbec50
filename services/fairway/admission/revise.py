"""Another manifest of a job that is there: what waits may take it over whole, what runs as far as its kind lets it."""

from typing import Any

import msgspec

from fairway.admission.named_settings import SETTLING
from fairway.admission.understand import Understood
from fairway.admission.view import MANIFEST, SERVICE, View
from fairway.domain.batch_resources import as_now, batch_pod_sets
from fairway.domain.decision import NOTHING, Call, Decision, Heard
from fairway.domain.events import aside
from fairway.domain.job import STARTED, Job, State
from fairway.domain.quota.tree import QUOTA_LABELS
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason, together
from fairway.wire.workload import Workload
from fairway.workloads.kinds.in_place import fixed
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import Terms, member_copy

# A job on its way into a cluster is looked at again after this long (ms), for about ten seconds; settings that were
# applied a moment before may still be on their way here, and so may a bus that is away be back.
_AGAIN_MS = 500
_TRIES = 20
_SETTLE_MS = 250
_UNDER_WAY = (State.DEQUEUED, State.PLACED, State.RESERVED)
_ANEW = "cancel it and apply it anew, or make the change while it waits in its queue"


def revise(view: View, heard: Heard[object], message: wire.Revise, now: int) -> Decision:
    job = view.jobs.get(message.job)
    seen = view.understood[heard.id]
    if job is None or job.spec is None or job.ended or job.cancelling or job.spec.manifest.sha256 == seen.digest:
        return NOTHING
    if seen.spec is None and heard.delivered == 1 and any(one.code in SETTLING for one in seen.reasons):
        return Decision(again_in=_SETTLE_MS)
    if refusal := _refused(job, message, seen):
        return _unchanged(heard, job, seen, now, refusal)
    if job.state in _UNDER_WAY and heard.delivered < _TRIES:
        return Decision(again_in=_AGAIN_MS)
    if job.state is State.RESERVED:
        text = f"attempt {job.attempt} is being started in {job.cluster}"
        return _unchanged(heard, job, seen, now, Reason(Code.BEING_STARTED, text, remedy="wait until it has started"))
    if job.state in STARTED:
        return _running(heard, job, seen, now)
    assert seen.spec is not None, "what is not understood is refused"
    return Decision((aside(SERVICE, heard, wire.Revised(**_head(heard, job, now), spec=_same_owner(job, seen.spec))),))


def _refused(job: Job, message: wire.Revise, seen: Understood) -> Reason | None:
    """Why the manifest is none of this job, whatever its state."""
    assert job.spec is not None, "asked of jobs that were admitted"
    if message.hub is not None and message.hub.uid != job.hub_uid:
        text = f"the job stands for the object with uid {job.hub_uid or 'none'}, not for {message.hub.uid}"
        return Reason(Code.ANOTHER_OBJECT, text, "metadata.uid", "wait until that one is gone")
    if seen.spec is None:
        return together(seen.reasons)
    was = job.spec.workload
    now = seen.spec.workload
    if (was.key, was.namespace, was.name) != (now.key, now.namespace, now.name):
        text = f"the job is {was.key} {was.namespace}/{was.name}, not {now.key} {now.namespace}/{now.name}"
        return Reason(Code.NOT_CHANGEABLE, text, "metadata.name", "submit that one as a job of its own")
    return None


def _running(heard: Heard[object], job: Job, seen: Understood, now: int) -> Decision:
    """First its manifest of now is fetched: what differs is told from that."""
    assert job.spec is not None, "a job with an attempt was admitted"
    assert seen.spec is not None, "what is not understood is refused"
    work = as_now(seen.spec.workload, job.spec.workload)
    if refusal := _named_otherwise(job.spec, seen.spec) or _more_room(job, work):
        return _unchanged(heard, job, seen, now, refusal)
    outcome = heard.outcomes[-1] if heard.outcomes else None
    if outcome is not None and not outcome.ok:
        return Decision(again_in=_AGAIN_MS)
    if outcome is None or outcome.body.ref != job.spec.manifest:
        return Decision(calls=(Call(MANIFEST, "", job.id, job.attempt, job.spec.manifest),))
    if refusal := _fixed(job, outcome.body.manifest, seen.manifest):
        return _unchanged(heard, job, seen, now, refusal)
    new = seen.spec
    taken = {"workload": work, "labels": new.labels, "manifest": new.manifest, "evict_notice": new.evict_notice}
    spec = msgspec.structs.replace(job.spec, **taken, hub=_object(job.spec, new))
    head = _head(heard, job, now)
    adjust = wire.Adjust(**head, attempt=job.attempt, cluster=job.cluster, spec=spec)
    return Decision((aside(SERVICE, heard, adjust),))


def _named_otherwise(was: wire.JobSpec, now: wire.JobSpec) -> Reason | None:
    """What Fairway has decided by it stands as long as the attempt does."""
    changed = [
        f"{what} {_of(now, what) or 'none'} instead of {_of(was, what) or 'none'}"
        for what in ("queue", "quota leaf", "priority", "policy", "preemptible")
        if _of(was, what) != _of(now, what)
    ]
    if not changed:
        return None
    text = f"it would have {', '.join(changed)}, which cannot change while an attempt is there"
    return Reason(Code.NOT_CHANGEABLE, text, "metadata", _ANEW)


def _of(spec: wire.JobSpec, what: str) -> str:
    if what == "quota leaf":
        return next((spec.labels[name] for name in QUOTA_LABELS if spec.labels.get(name)), "")
    if what == "preemptible":
        return "true" if spec.evictable else "false"
    return str(getattr(spec, what))


def _more_room(job: Job, now: Workload) -> Reason | None:
    """Whether it asks for more than the attempt was let go with and has reserved."""
    assert job.spec is not None, "a job with an attempt was admitted"
    was = job.spec.workload
    if [one.name for one in was.pod_sets] != [one.name for one in now.pod_sets]:
        names = ", ".join(one.name for one in now.pod_sets)
        text = f"it would have pods of {names} where room is reserved for {', '.join(one.name for one in was.pod_sets)}"
        return Reason(Code.NEEDS_ROOM, text, "spec", _ANEW)
    reserved = {one.name: sum(slot.count for slot in job.slots if slot.pods == one.name) for one in was.pod_sets}
    for old, new in zip(was.pod_sets, now.pod_sets, strict=True):
        most = max(old.count, reserved[old.name])
        if new.count > most:
            text = f"it would have {new.count} pods of {new.name} where room is reserved for {most}"
            return Reason(Code.NEEDS_ROOM, text, "spec", _ANEW)
        if any(amount > old.requests.get(name, 0) for name, amount in new.requests.items()):
            return Reason(Code.NEEDS_ROOM, f"each pod of {new.name} would ask for more than is reserved", "spec", _ANEW)
    together_now = max(was.gang_minimum, sum(reserved.values()))
    if now.gang_minimum > together_now:
        text = f"{now.gang_minimum} pods would have to run together where room is reserved for {together_now}"
        return Reason(Code.NEEDS_ROOM, text, "spec", _ANEW)
    return None


def _fixed(job: Job, before: dict[str, Any] | None, after: dict[str, Any]) -> Reason | None:
    assert job.spec is not None, "a job with an attempt was admitted"
    work = job.spec.workload
    if before is None:
        text = "the record does not have its present manifest any more, and nobody can tell what would change"
        return Reason(Code.NOT_CHANGEABLE, text, remedy=_ANEW)
    terms = Terms(tokens=job.spec.tokens, batch=batch_pod_sets(work))
    copies = [member_copy(one, job.id, job.attempt, terms=terms) for one in (before, after)]
    names = fixed(KINDS[work.key], *copies)
    if not names:
        return None
    text = f"{', '.join(names)} cannot change while attempt {job.attempt} is in {job.cluster}"
    return Reason(Code.NOT_CHANGEABLE, text, names[0], _ANEW)


def _same_owner(job: Job, spec: wire.JobSpec) -> wire.JobSpec:
    """Whoever changes it, it stays whose it was; and what went along with an earlier attempt is still looked for."""
    was = job.spec
    assert was is not None, "asked of jobs that were admitted"
    companions = spec.companions or was.companions
    return msgspec.structs.replace(spec, hub=_object(was, spec), client=was.client, who=was.who, companions=companions)


def _object(was: wire.JobSpec, now: wire.JobSpec) -> wire.HubRef | None:
    """The same, with the templates that are copied into the manifest of now."""
    if was.hub is None:
        return None
    said = now.hub or wire.HubRef(was.hub.uid)
    return msgspec.structs.replace(was.hub, templates=said.templates, wish=said.wish)


def _unchanged(heard: Heard[object], job: Job, seen: Understood, now: int, why: Reason) -> Decision:
    said = wire.Unchanged(**_head(heard, job, now), why=why, digest=seen.digest)
    return Decision((aside(SERVICE, heard, said),))


def _head(heard: Heard[object], job: Job, now: int) -> dict[str, Any]:
    return {"job": job.id, "tenant": job.tenant, "at": now, "cause": heard.id}
