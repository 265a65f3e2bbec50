"""What follows when all objects of the hub have been shown: who is not there, is no more. Pure."""

from fairway.domain.decision import Decision, Reminder, Step
from fairway.domain.held_object import released
from fairway.hub.intake.submit import next_turn
from fairway.hub.messages import Orphan
from fairway.hub.telling.due import due
from fairway.hub.view import View


def all_listed(view: View, now: int) -> Decision:
    """Jobs whose object was deleted while nobody looked, and objects that were to be told of meanwhile. What was said
    of objects that are not there is for nobody."""
    orphans = tuple(Reminder(Orphan(name)) for name in view.objects.unseen.values())
    early = [word for words in view.objects.early.values() for word in words]
    orphans += tuple(Reminder(Orphan(name)) for name in dict.fromkeys(one.message.job for one in early))
    gone = tuple(Step(released(one)) for one in view.objects.held_before.values())
    reminders = (*orphans, *due(view, now), *next_turn(view, now))
    return Decision(gone, reminders=reminders, done=tuple(one.id for one in early))
