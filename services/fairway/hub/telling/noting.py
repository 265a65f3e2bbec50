"""How the memory changes by what is said of jobs, and by what came of what was written on the hub."""

from typing import Any

from fairway.domain.decision import Call, Decision, Heard, Outcome
from fairway.domain.job import Job
from fairway.hub.calls import BIND, CONDITION, EVENT, NO_STATUS, NOT_SERVED, NOT_TAKEN, STATUS
from fairway.hub.gang_pods import behind, followers, join, pods_of, teller, teller_of
from fairway.hub.job_object import JobObject
from fairway.hub.messages import ScheduleSeen, SettingSeen, Show, Tell, Tend, Turn, Unbind, Wish
from fairway.hub.schedules import noting as schedules
from fairway.hub.settings.judge import mark_of, seen_as
from fairway.hub.telling import pending_update as pending
from fairway.hub.telling import statuses
from fairway.hub.telling.bindings import DIGEST, change_of, stamps_of
from fairway.hub.telling.known_bindings import Written
from fairway.hub.telling.pending_update import HeardWord, ToldUpdate
from fairway.hub.telling.telling import Sent
from fairway.hub.view import View
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.envelope import JobMessage

_ENDS = wire.Succeeded | wire.Failed | wire.Lost | wire.Cancelled | wire.Rejected
# A change that was not taken over may be when the job is there next.
_AGAIN = wire.Queue | wire.Running | wire.Dispatched
_OTHER = "?"


def of_job(view: View, heard: Heard[Any], now: int) -> None:
    """A word of the record on a job, or what its member shows."""
    message = heard.message
    job = view.jobs.get(message.job)
    if isinstance(message, _ENDS) and (job is None or job.ended):
        view.turns.freed_now |= view.turns.freed(message.job)
    if job is None or not job.hub_uid:
        return
    if pods_of(job) and not view.objects.listed:
        view.objects.in_hand.put_off.add(heard.id)  # what concerns several objects is heard when all are known
        return
    _of_followers(view, job, message, now)
    known = teller(view, job)
    if known is not None and known.leader:
        _keep(view, known, heard.id, message, now)
    elif isinstance(message, fleet.Shown):
        if known is not None:
            statuses.see(known, job, message, now)
    elif known is not None:
        word(view, known, HeardWord(heard.id, message), now)
    elif not view.objects.listed:
        view.objects.early.setdefault(job.hub_uid, []).append(HeardWord(heard.id, message))


def _of_followers(view: View, job: Job, message: Any, now: int) -> None:
    """The other pods of a gang show what follows from it; their owner is told by the leader's binding."""
    for pod in pods_of(job):
        join(view, pod, job.hub_uid, job.id)
    for known in followers(view, job):
        if isinstance(message, fleet.Shown):
            statuses.see(known, job, message, now)
        else:
            statuses.hear(known, job, message, now)


def _keep(view: View, pod: JobObject, name: str, message: Any, now: int) -> None:
    """A word, until those pods show it that are left: the one for which the job stood is gone."""
    if not isinstance(message, fleet.Shown) and name not in pod.pending.ids:
        pending.hear(pod.pending, HeardWord(name, message), now, view.telling.waiting)


def word(view: View, known: JobObject, heard: HeardWord, now: int) -> None:
    message = heard.message
    job = view.jobs.get(message.job)
    line = known.pending
    if heard.id in line.ids:
        return
    if not known.submitted:  # by another process, a moment ago
        known.submitted = True
        known.job = message.job
        view.turns.leave(known.one)
    if message.job != known.job and known.refused and isinstance(message, wire.Rejected):
        known.job = message.job  # by another process the object was submitted anew, and refused at the door
    if message.job != known.job:
        line.over.append(heard.id)  # of a job that stood for the object before
        pending.touch(line, now)
        return
    pending.hear(line, heard, now, view.telling.waiting)
    _of_wish(view, known, job, message)
    if job is not None:
        statuses.hear(known, job, message, now)


def _of_wish(view: View, known: JobObject, job: Job | None, message: JobMessage) -> None:
    wish = known.wish
    match message:
        case wire.Rejected():
            known.refused = (job.refused_as if job is not None else "") or _OTHER
            view.objects.in_hand.asked_again.add(known.one.uid)  # it may have changed already
        case wire.Unchanged(digest=digest, why=why) if wish.asked in ("", digest):
            wish.refusal = why
            wish.answered = True
        case wire.Amended(spec=spec) if wish.asked == spec.manifest.sha256:
            wish.refusal = None
        case _ if isinstance(message, _AGAIN) and (wish.refusal is not None or _unanswered(known, job)):
            wish.said = _OTHER
            view.objects.in_hand.asked_again.add(known.one.uid)


def _unanswered(known: JobObject, job: Job | None) -> bool:
    """What was asked for is not what the job is, and why was perhaps told to another process."""
    asked = known.wish.asked
    return bool(asked) and job is not None and job.spec is not None and job.spec.manifest.sha256 != asked


def outcomes(view: View, heard: Heard[Any]) -> None:
    """Of the calls that were made for a message."""
    sent = view.telling.sent.pop(heard.id, None)
    if sent is None:
        return
    match heard.message:
        case Tell(uid):
            known = view.objects.get(uid)
            _bound(view, sent, heard.outcomes, known is None)
            if known is not None and all(one.ok for one in heard.outcomes):
                _told(view, known, sent)
        case Show(uid) if (known := view.objects.get(uid)) is not None:
            _shown(known, sent.calls[0], heard.outcomes[-1])
        case SettingSeen() as message:
            _of_setting(view, message, sent, heard.outcomes)
        case Tend() | ScheduleSeen():
            schedules.outcomes(view, heard, sent)
        case Unbind(namespace, name) if heard.outcomes[-1].ok:
            view.telling.bindings.there.pop((namespace, name), None)


def _bound(view: View, sent: Sent, made: tuple[Outcome, ...], gone: bool) -> None:
    """The binding is there; that of an object that is `gone` by now may be, whatever the hub has answered."""
    for call, outcome in zip(sent.calls, made, strict=True):
        if call.verb == BIND and outcome.code == NOT_SERVED:
            view.telling.bindings.served = False
        elif call.verb == BIND and not outcome.code and (outcome.ok or gone):
            body = call.body.manifest
            meta = body["metadata"]
            owner = meta["ownerReferences"][0]["uid"]
            written = Written(owner, meta["annotations"][DIGEST], stamps_of(body), change_of(body))
            view.telling.bindings.there[meta["namespace"], meta["name"]] = written


def _told(view: View, known: JobObject, sent: Sent) -> None:
    job = view.jobs.get(known.job)
    told = known.told
    attempt = job.attempt if job is not None and known.submitted else 0
    if (told.job, told.attempt) != (known.job, attempt):
        told = known.told = ToldUpdate(known.job, attempt)
    told.ended = job is not None and job.ended
    for call in sent.calls:
        if call.verb == EVENT:
            told.reasons.add(call.body.reason)
            told.last = call.body.reason
    pending.told(known.pending, sent.ids)


def _shown(known: JobObject, call: Call, outcome: Outcome) -> None:
    if call.verb == STATUS and outcome.ok and not outcome.code:
        statuses.written(known, call.job, call.body.status)
    elif call.verb == STATUS and outcome.ok:
        statuses.not_written(known, outcome.body)


def _of_setting(view: View, message: SettingSeen, sent: Sent, made: tuple[Outcome, ...]) -> None:
    one = seen_as(message)
    known = view.hub_settings
    for call, outcome in zip(sent.calls, made, strict=True):
        if call.verb == CONDITION and outcome.ok and outcome.code != NOT_TAKEN:
            key = one.kind if outcome.code == NO_STATUS else one.uid
            known.spoke[key] = mark_of(call.body.condition)
        elif call.verb == EVENT and outcome.ok and (one.kind, one.key) in known.refused:
            known.announced(one)
        elif call.verb == EVENT and outcome.ok:
            known.spoke[one.uid] = call.body.id


def decided(view: View, heard: Heard[Any], made: Decision, now: int) -> None:
    """What came of a message: what is on its way by now, and what is over with it."""
    for one in made.reminders:
        match one.message:
            case Show(uid):
                view.telling.showing.add(uid)
            case Tell(uid, at):
                view.telling.telling[uid] = at
            case Wish(uid) if one.after and (known := view.objects.get(uid)) is not None:
                known.wish.later = now + one.after
            case Turn():
                at = now + one.after
                before = view.turns.next_at
                view.turns.next_at = at if before is None else min(before, at)
    if made.calls:
        _sends(view, heard, made, now)
    elif made.again_in is None:
        _over(view, heard.message, now)
    elif isinstance(heard.message, Tell) and (known := view.objects.get(heard.message.uid)) is not None:
        line = known.pending
        if not line.slot and not heard.outcomes and line.due <= now:
            line.slot = now + made.again_in
            view.telling.pace.book(now, view.telling.waiting)


def _sends(view: View, heard: Heard[Any], made: Decision, now: int) -> None:
    ids: tuple[str, ...] = ()
    if isinstance(heard.message, Tell) and (known := view.objects.get(heard.message.uid)) is not None:
        ids = tuple(known.pending.ids)
        if not known.pending.slot:
            view.telling.pace.book(now, view.telling.waiting)
        known.pending.slot = 0
    view.telling.sent[heard.id] = Sent(made.calls, ids)


def _over(view: View, message: object, now: int) -> None:
    match message:
        case Tell(uid, at) if not view.telling.replaced(uid, at):
            view.telling.telling.pop(uid, None)
            if view.telling.bindings.asked and (known := view.objects.get(uid)) is not None:
                if known.pending.due and not behind(view, known):
                    pending.told(known.pending, tuple(known.pending.ids))
                    known.pending.over = []
                known.pending.due = 0
                known.pending.slot = 0
        case Show(uid):
            view.telling.showing.discard(uid)
            if (known := view.objects.get(uid)) is not None:
                known.shown.wanted = None
                said = teller_of(view, known)
                if said is not None and pending.kept(said.pending):  # kept until it shows what follows from them
                    pending.touch(said.pending, now)
