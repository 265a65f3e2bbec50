"""How the memory changes by what is found of objects that are jobs', and what is said of them."""

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Say
from fairway.domain.events import another_id, name_key
from fairway.domain.held_object import HeldObject
from fairway.domain.job import State
from fairway.domain.submission import digest_of, size_of
from fairway.domain.tenancy.submission_limits import limit_for
from fairway.hub.gang_pods import join, pods_beside, pods_of
from fairway.hub.intake.submit import submission_of
from fairway.hub.job_object import JobObject, client_of, job_of, named
from fairway.hub.known_objects import GangFollower, KnownObjects
from fairway.hub.telling.pending_update import ToldUpdate
from fairway.hub.telling.statuses import hold
from fairway.hub.view import View
from fairway.runtime.ports import ReadRows
from fairway.runtime.views import row_cache
from fairway.wire import fleet
from fairway.wire import jobs as wire


def live(objects: KnownObjects, found: ReadRows) -> None:
    """Jobs that stand for an object of the hub, and have not ended."""
    for (table, name), row in found.rows.items():
        job = row_cache.JOBS.value(table, name, row.data)
        if job.hub_uid and not job.ended and not job.cancelling:
            objects.unseen[job.hub_uid] = job.id
            for one in pods_of(job):
                objects.unseen[one.uid] = job.id
                objects.followers[one.uid] = GangFollower(job.hub_uid, job.id)


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
            submitted_before(view, there)
            if there.unread:
                unread.add(one.uid)
    known.unread = frozenset(unread)


def submitted_before(view: View, known: JobObject) -> None:
    """Whether it was, by this process or another."""
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
            limit = limit_for(message.tenant, view.limits)
            view.turns.pace.bytes.take(message.tenant, limit.bytes, size_of(message), message.at)
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
    for pod in pods_beside(message.hub):
        join(view, pod, known.one.uid, known.job)
    known.submitted = True
    known.refused = ""
    known.wish.said = known.wish.digest
    known.wish.asked = digest
    known.told = ToldUpdate()
    known.shown.wanted = None
    known.shown.attempt = 0
    known.shown.version = ""
    view.turns.pace.count(message.tenant, limit_for(message.tenant, view.limits), size_of(message), message.at)
    view.turns.leave(known.one)
    known.one = named(known.one)
