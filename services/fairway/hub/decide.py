"""From what the hub shows and the record says to what is said, held, and written back. Pure."""

from msgspec import structs

from fairway.domain.decision import Decision, Heard, Reminder
from fairway.hub.intake import template_changes
from fairway.hub.intake.all_listed import all_listed
from fairway.hub.intake.owners_wish import changed, gone, look_again, orphan
from fairway.hub.intake.submit import resubmit, turn, turn_for
from fairway.hub.messages import (
    BindingsListed,
    Hears,
    ObjectSeen,
    ObjectsListed,
    Orphan,
    Resubmit,
    RunsListed,
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
from fairway.hub.telling.job_words import of_job
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
        case RunsListed():
            return stirred(view, Decision(), now)
        case BindingsListed():
            return Decision(reminders=due(view, now))
        case JobMessage() | fleet.Shown():
            return of_job(view, heard, message, now)
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
    of_gang = template_changes.of_gang(view, one.uid, now)
    if known is None:
        return _with(gone(view, one.uid, now), of_gang)
    if message.place != known.place:
        return Decision()  # it was seen anew since, or in another version
    if known.unread:
        return Decision(again_in=0)
    if not known.submitted or known.refused:
        return Decision(reminders=(*of_gang, *turn_for(view, (one.uid,), now)))
    made = changed(view, heard, known, one, now)
    return made if made.calls else _with(made, (*of_gang, *due_of(view, one.uid, now)))


def _with(made: Decision, reminders: tuple[Reminder, ...]) -> Decision:
    return structs.replace(made, reminders=(*made.reminders, *reminders))
