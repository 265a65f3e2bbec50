"""What is yet to be written on the hub of an object, or of all: as reminders of when. Pure."""

from fairway.domain.decision import Reminder
from fairway.hub.messages import Show, Tell, Unbind
from fairway.hub.telling.tell import after
from fairway.hub.view import View


def due_of(view: View, uid: str, now: int) -> tuple[Reminder, ...]:
    """To write its status and to tell its owner, as far as there is anything, and it is not on its way already."""
    known = view.objects[uid]
    found = []
    if known.shown.wanted is not None and uid not in view.telling.showing:
        found.append(Reminder(Show(uid), max(known.shown.due - now, 0)))
    if known.pending.due and view.telling.late(uid, known.pending.due):
        found.append(Reminder(Tell(uid, known.pending.due), after(known.pending.due, now)))
    return tuple(found)


def due(view: View, now: int) -> tuple[Reminder, ...]:
    """What is to be written of any object, and the bindings of objects that are no more."""
    found = [one for uid in view.objects for one in due_of(view, uid, now)]
    if view.objects.listed:
        found += [
            Reminder(Unbind(namespace, name, one.owner))
            for (namespace, name), one in view.telling.bindings.there.items()
            if not view.objects.binds(one.owner)
        ]
    return tuple(found)
