"""What follows when something came, changed or went in which parts of jobs stand. Pure but for the memory."""

from fairway.domain.decision import Decision, Reminder
from fairway.hub.intake.submit import next_turn, turn_for
from fairway.hub.job_object import JobObject
from fairway.hub.messages import TemplateSeen, Wish
from fairway.hub.view import View
from fairway.workloads.gangs.found_gang import POD
from fairway.workloads.hub.objects import HubObject
from fairway.workloads.references import Reference, reference_of, referenced


def see(view: View, message: TemplateSeen) -> None:
    """Objects that refer to it and were not handed on may be submitted now."""
    view.templates.see(referenced(message.kind, message.manifest), message.place, message.gone)
    _look_again(view, reference_of(message.kind, message.manifest))


def see_pod(view: View, one: HubObject, counts: bool) -> None:
    """A pod as it is now, which `counts` as one that is to start: the others of its gang refer to it."""
    for gang in view.templates.see_pod(one, counts):
        _look_again(view, gang)


def _look_again(view: View, reference: Reference) -> None:
    for known in _users(view, reference):
        if _handed_on(known):
            view.objects.in_hand.asked_again.add(known.one.uid)
        elif not known.leader:
            view.templates.note(known.one)
            view.turns.put(known.one)
            view.objects.in_hand.stirred[reference] = known.one.uid


def of_gang(view: View, uid: str, now: int) -> tuple[Reminder, ...]:
    """What follows for the others of a gang when a message in hand shows one of its pods changed, or gone."""
    used = view.templates.uses.get(uid, ())
    others = {one.one.uid for each in used if each.kind == POD for one in _users(view, each)}
    again = tuple(
        Reminder(Wish(one, templates=True)) for one in sorted(others & view.objects.in_hand.asked_again - {uid})
    )
    return (*again, *turn_for(view, view.objects.in_hand.stirred.values(), now))


def decided(view: View, message: TemplateSeen, now: int) -> Decision:
    """Those that were handed on are looked at one by one, and the others have their turn."""
    users = _users(view, reference_of(message.kind, message.manifest))
    again = tuple(Reminder(Wish(one.one.uid, templates=True)) for one in users if _handed_on(one))
    return Decision(reminders=(*again, *next_turn(view, now)))


def _users(view: View, reference: Reference) -> list[JobObject]:
    uids = sorted(view.templates.users.get(reference, ()))
    return [view.objects[uid] for uid in uids if uid in view.objects]


def _handed_on(known: JobObject) -> bool:
    return known.submitted and not known.refused
