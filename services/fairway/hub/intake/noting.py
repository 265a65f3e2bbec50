"""How the memory changes by what is seen of objects that are jobs', what is found of them, and what is said of them."""

from typing import Any

import msgspec
from msgspec import structs

from fairway.domain import decision
from fairway.domain.decision import Heard, Say
from fairway.domain.events import another_id, name_key
from fairway.domain.held_object import HeldObject
from fairway.domain.job import State
from fairway.domain.submission import digest_of
from fairway.domain.tenancy.submission_limits import limit_for
from fairway.hub.intake.owners_wish import revised
from fairway.hub.intake.submit import submission_of
from fairway.hub.job_object import JobObject, client_of, job_of, named, suspended, wish_of
from fairway.hub.known_objects import KnownObjects
from fairway.hub.messages import ObjectSeen
from fairway.hub.telling import noting as telling
from fairway.hub.telling.pending_update import SOON_MS, STATUS_MS, ToldUpdate, touch
from fairway.hub.telling.statuses import hold
from fairway.hub.view import View
from fairway.runtime.ports import ReadRows
from fairway.runtime.views import row_cache
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.workloads.hub.objects import HubObject, as_written, hub_object, leaving, owned, taken

_encode = msgspec.json.Encoder().encode
# Of what was handed on by another process, and is not what the object says.
_OTHER = "?"


def live(objects: KnownObjects, found: ReadRows) -> None:
    """Jobs that stand for an object of the hub, and have not ended."""
    for (table, name), row in found.rows.items():
        job = row_cache.JOBS.value(table, name, row.data)
        if job.hub_uid and not job.ended and not job.cancelling:
            objects.unseen[job.hub_uid] = job.id


def rows(view: View, found: ReadRows) -> None:
    """What was read for the messages in hand. Objects that were submitted before are no longer to be."""
    known = view.turns.rows
    known.pending = found.counters.get(decision.PENDING, {})
    known.clients = {}
    for (table, key), row in found.rows.items():
        if table == decision.CLIENTS:
            known.clients[key] = msgspec.json.decode(row.data, type=tuple[str, str])[0]
    unread = set()
    for one in view.turns.batch:
        key = name_key(one.namespace, one.plain, one.name)
        name = found.rows.get((decision.NAMES, key))
        holder = msgspec.json.decode(name.data, type=str) if name is not None else ""
        asked = known.names.pop(key, "") == holder
        if holder:
            known.names[key] = holder
        if holder and not asked and holder not in view.jobs:
            unread.add(one.uid)
        if (there := view.objects.get(one.uid)) is not None and not there.submitted:
            _submitted_before(view, there)
            if there.unread:
                unread.add(one.uid)
    known.unread = frozenset(unread)


def _submitted_before(view: View, known: JobObject) -> None:
    """By this process or another."""
    newest = view.turns.rows.clients.get(client_of(known.one), "")
    first = job_of(known.one)
    if not newest and first not in view.jobs:
        return
    name = newest or first
    # Which job is the newest is read together with the rows of those that were known before.
    known.unread = name not in view.jobs and name != known.job
    known.job = name
    if known.unread:
        return
    known.submitted = True
    job = view.jobs.get(known.job)
    if job is not None and job.state is State.REJECTED:
        known.refused = job.refused_as


def job_anew(view: View, uid: str, now: int) -> tuple[str, ...]:
    """The id that the job of an object has when it is submitted anew as it is now."""
    known = view.objects.get(uid)
    new = submission_of(view, known.one, now, again=True) if known is not None and known.one.manifest else None
    return (another_id(new.job, new.say.id, new.digest),) if new is not None else ()


def refused_again(view: View, uid: str, now: int) -> None:
    """By another process it was submitted anew just so, and refused once more."""
    for name in job_anew(view, uid, now):
        job = view.jobs.get(name)
        if job is not None and job.state is State.REJECTED:
            view.objects[uid].job = name
            view.objects[uid].refused = job.refused_as


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
    if known is not None:
        view.objects.left[one.uid] = known
        view.turns.leave(one)


def _present(view: View, one: HubObject, place: int, now: int) -> None:
    known = view.objects.get(one.uid)
    new = known is None or known.unread
    if known is None:
        known = view.objects.there[one.uid] = JobObject(one, job_of(one), now)
        view.objects.unseen.pop(one.uid, None)
        known.held = view.objects.held_before.pop(one.uid, None)
    known.unread = False
    if not known.submitted:
        _submitted_before(view, known)
    known.one = one
    known.place = place
    if known.unread:
        return
    _see_status(known, one, now)
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


def held(view: View, uid: str, value: HeldObject | None) -> None:
    view.objects.held_before.pop(uid, None)
    if (known := view.objects.get(uid)) is not None:
        known.held = value
        hold(known, value)


def said(view: View, say: Say) -> None:
    match message := say.message:
        case wire.Submitted() if message.hub is not None:
            _submitted(view, say, message)
        case wire.Revise() if message.hub is not None and (known := view.objects.get(message.hub.uid)) is not None:
            known.wish.said = known.wish.digest
            known.wish.asked = digest_of(message)
        case fleet.Configured() | fleet.ConfigRefused():
            looked = view.looked.get((message.kind, message.namespace, message.name))
            view.hub_settings.said(say, looked, message.at)
            if looked is not None and isinstance(message, fleet.Configured) and bytes(message.manifest) != b"null":
                for one in view.hub_settings.taken(looked):
                    view.turns.put(one)


def _submitted(view: View, say: Say, message: wire.Submitted) -> None:
    assert message.hub is not None, "asked of submissions of the hub's objects"
    known = view.objects.get(message.hub.uid)
    if known is None:
        return
    digest = digest_of(message)
    if known.refused:
        known.job = another_id(message.job, say.id, digest)
        known.shown.status = b""
    known.submitted = True
    known.refused = ""
    known.wish.said = known.wish.digest
    known.wish.asked = digest
    known.told = ToldUpdate()
    known.shown.wanted = None
    known.shown.attempt = 0
    known.shown.version = ""
    view.turns.pace.wait(message.tenant, limit_for(message.tenant, view.limits).rate, message.at)
    view.turns.leave(known.one)
    known.one = named(known.one)
