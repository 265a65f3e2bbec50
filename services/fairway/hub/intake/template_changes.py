"""What follows when something came, changed or went in which parts of jobs stand. Pure but for the memory."""

from fairway.domain.decision import Decision, Reminder
from fairway.hub.intake.submit import next_turn
from fairway.hub.job_object import JobObject
from fairway.hub.messages import TemplateSeen, Wish
from fairway.hub.view import View
from fairway.workloads.references import reference_of, referenced


def see(view: View, message: TemplateSeen) -> None:
    """Objects that refer to it and were not handed on may be submitted now."""
    view.templates.see(referenced(message.kind, message.manifest), message.place, message.gone)
    for known in _users(view, message):
        if not _handed_on(known):
            view.templates.note(known.one)
            view.turns.put(known.one)


def decided(view: View, message: TemplateSeen, now: int) -> Decision:
    """Those that were handed on are looked at one by one, and the others have their turn."""
    again = tuple(Reminder(Wish(one.one.uid, templates=True)) for one in _users(view, message) if _handed_on(one))
    return Decision(reminders=(*again, *next_turn(view, now)))


def _users(view: View, message: TemplateSeen) -> list[JobObject]:
    uids = sorted(view.templates.users.get(reference_of(message.kind, message.manifest), ()))
    return [view.objects[uid] for uid in uids if uid in view.objects]


def _handed_on(known: JobObject) -> bool:
    return known.submitted and not known.refused
