"""How the memory changes by what the hub shows of objects that are jobs'."""

from typing import Any

import msgspec
from msgspec import structs

from fairway.domain.decision import Heard
from fairway.hub.gang_pods import pods_of, teller
from fairway.hub.intake import template_changes
from fairway.hub.intake.noting import submitted_before
from fairway.hub.intake.owners_wish import revised
from fairway.hub.job_object import JobObject, job_of, named, suspended, wish_of
from fairway.hub.messages import ObjectSeen
from fairway.hub.telling import noting as telling
from fairway.hub.telling.pending_update import SOON_MS, STATUS_MS, kept, touch
from fairway.hub.telling.statuses import hold
from fairway.hub.view import View
from fairway.workloads.hub.ends import ended
from fairway.workloads.hub.objects import HubObject, as_written, hub_object, leaving, owned, taken

_encode = msgspec.json.Encoder().encode
# Of what was handed on by another process, and is not what the object says.
_OTHER = "?"


def object_seen(view: View, heard: Heard[Any], message: ObjectSeen, now: int) -> None:
    one = hub_object(message.kind, message.manifest)
    known = view.objects.get(one.uid)
    newest = view.objects.place
    view.objects.place = max(newest, message.place)
    if known is None and message.place < newest:
        return  # it was looked at once more, or put off, and is gone since
    if known is not None and known.one.kind != one.kind and not as_written(one):
        return  # the hub serves it in another version, too
    if known is not None and message.place < known.place:
        return
    if message.gone or leaving(one) or taken(one):
        _gone(view, one)
    elif not owned(one) and not heard.outcomes:
        _present(view, one, message.place, now)
    elif known is not None and heard.outcomes and heard.outcomes[-1].ok and not known.wish.said:
        body = heard.outcomes[-1].body
        before = structs.replace(one, manifest=body) if body is not None else None
        same = before is not None and wish_of(before) == known.wish.digest
        known.wish.said = known.wish.digest if same else _OTHER
        known.wish.let_go = before is not None and suspended(before) and known.wish.suspended


def _gone(view: View, one: HubObject) -> None:
    view.templates.forget(one.uid)
    known = view.objects.there.pop(one.uid, None)
    template_changes.see_pod(view, one, counts=False)
    if known is not None:
        view.objects.left[one.uid] = known
        view.turns.leave(one)
        _hand_over(view, known)


def _hand_over(view: View, pod: JobObject) -> None:
    """What was kept until the pod shows it, for the others of its gang that are left."""
    job = view.jobs.get(pod.job)
    if not pods_of(job) or (left := teller(view, job)) is None:
        return
    left.pending.over += [*pod.pending.over, *pod.pending.ids]
    pod.pending.ids = []
    pod.pending.over = []
    if kept(left.pending):
        touch(left.pending, 0)


def _present(view: View, one: HubObject, place: int, now: int) -> None:
    known = view.objects.get(one.uid)
    new = known is None or known.unread
    if known is None:
        known = view.objects.there[one.uid] = JobObject(one, job_of(one), now)
        view.objects.unseen.pop(one.uid, None)
        known.held = view.objects.held_before.pop(one.uid, None)
        if (joined := view.objects.followers.pop(one.uid, None)) is not None:
            known.leader = joined.leader
            known.job = joined.job
    known.unread = False
    if not known.submitted:
        submitted_before(view, known)
    known.one = one
    known.place = place
    if known.unread:
        return
    _see_status(known, one, now)
    template_changes.see_pod(view, one, counts=not ended(one))
    view.templates.note(one)
    known.wish.digest = wish_of(view.templates.written(one).one)
    known.wish.suspended = suspended(one)
    known.wish.let_go &= known.wish.suspended
    if not known.submitted or known.refused:
        view.turns.put(one)
    else:
        _as_recorded(view, known, one, now)
        view.turns.leave(one)
        known.one = named(one)
    if new:
        if known.held is not None and not known.submitted:
            hold(known, known.held)
        for word in view.objects.early.pop(one.uid, ()):
            telling.word(view, known, word, now)
        if known.submitted or known.held:
            touch(known.pending, now)  # whether its binding says what is so


def _see_status(known: JobObject, one: HubObject, now: int) -> None:
    status = one.manifest.get("status")
    shown = _encode(status) if status else b""
    if shown == known.shown.status:
        return
    known.shown.status = shown
    if known.told.job:
        # The last one must be in the binding, those before it need not.
        touch(known.pending, now + (SOON_MS if known.told.ended else STATUS_MS))


def _as_recorded(view: View, known: JobObject, one: HubObject, now: int) -> None:
    """What the job says now is what the object says, with its policies."""
    job = view.jobs.get(known.job)
    wish = known.wish
    if job is None or job.spec is None or job.spec.hub is None or wish.said == wish.digest:
        return
    if revised(view, job, one, now).digest == job.spec.manifest.sha256:
        wish.said = wish.digest
        wish.let_go = wish.suspended and not job.held
        if wish.refusal is not None:
            wish.refusal = None
            touch(known.pending, now)
