"""From what the hub shows and the record says to what is said, held, and written back. Pure."""

from fairway.domain.decision import Decision, Heard, Reminder
from fairway.hub.intake import template_changes
from fairway.hub.intake.all_listed import all_listed
from fairway.hub.intake.owners_wish import NOWHERE, changed, gone, look_again, orphan
from fairway.hub.intake.submit import next_turn, resubmit, turn, turn_for
from fairway.hub.messages import (
    BindingsListed,
    Hears,
    ObjectSeen,
    ObjectsListed,
    Orphan,
    Resubmit,
    ScheduleSeen,
    SettingSeen,
    SettingsListed,
    Show,
    Tell,
    TemplateSeen,
    Tend,
    Turn,
    Unbind,
    Wish,
)
from fairway.hub.schedules.tend import schedule_seen, stirred, tend
from fairway.hub.settings.judge import listed, setting_seen
from fairway.hub.telling.due import due, due_of
from fairway.hub.telling.tell import show, tell, unbind
from fairway.hub.view import View
from fairway.wire import fleet
from fairway.wire.envelope import JobMessage
from fairway.workloads.hub.objects import hub_object


def decide(view: View, heard: Heard[Hears], now: int) -> Decision:
    match message := heard.message:
        case SettingSeen():
            return setting_seen(view, heard, message, now)
        case SettingsListed():
            return listed(view, message, now)
        case TemplateSeen():
            return template_changes.decided(view, message, now)
        case ObjectSeen():
            return stirred(view, _object_seen(view, heard, message, now), now)
        case ScheduleSeen():
            return schedule_seen(view, heard, message, now)
        case ObjectsListed():
            return all_listed(view, now)
        case BindingsListed():
            return Decision(reminders=due(view, now))
        case JobMessage() | fleet.Shown():
            return _of_job(view, heard, message, now)
        case _:
            return _own(view, heard, now)


def _own(view: View, heard: Heard[Hears], now: int) -> Decision:
    match message := heard.message:
        case Turn():
            return turn(view, now)
        case Resubmit():
            return resubmit(view, heard, message, now)
        case Wish():
            return look_again(view, heard, message)
        case Show():
            return show(view, heard, message, now)
        case Tell():
            return tell(view, heard, message, now)
        case Unbind():
            return unbind(view, heard, message)
        case Tend():
            return tend(view, heard, message, now)
        case Orphan():
            return orphan(view, heard, message, now)
    return Decision()


def _object_seen(view: View, heard: Heard[Hears], message: ObjectSeen, now: int) -> Decision:
    one = hub_object(message.kind, message.manifest)
    known = view.objects.get(one.uid)
    if known is None:
        return gone(view, one.uid, now)
    if message.place != known.place:
        return Decision()  # it was seen anew since, or in another version
    if known.unread:
        return Decision(again_in=0)
    if not known.submitted or known.refused:
        return Decision(reminders=turn_for(view, one.uid, now))
    made = changed(view, heard, known, one, now)
    return made if made.calls else _with(made, due_of(view, one.uid, now))


def _with(made: Decision, reminders: tuple[Reminder, ...]) -> Decision:
    return Decision(made.steps, (), made.again_in, reminders)


def _of_job(view: View, heard: Heard[Hears], message: JobMessage | fleet.Shown, now: int) -> Decision:
    """A word of the record on a job, or what its member shows: it is kept until its owner was told."""
    job = view.jobs.get(message.job)
    uid = job.hub_uid if job is not None else ""
    known = view.objects.get(uid)
    freed = next_turn(view, now) if view.turns.freed_now else ()
    if job is None or not uid:
        return Decision(reminders=freed)
    if known is None:
        kept = isinstance(message, JobMessage) and uid in view.objects.early
        orphan = (Reminder(Orphan(job.id)),) if view.objects.listed and job.state not in NOWHERE else ()
        return Decision(reminders=(*freed, *orphan), kept=kept)
    again = (Reminder(Wish(uid)),) if uid in view.objects.asked_again else ()
    kept = heard.id in known.pending.ids
    return Decision(reminders=(*freed, *again, *due_of(view, uid, now)), kept=kept)
