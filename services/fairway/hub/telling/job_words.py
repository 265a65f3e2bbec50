"""What follows from a word of the record on a job, and from what its member shows. Pure."""

from fairway.domain.decision import Decision, Heard, Reminder
from fairway.hub.gang_pods import followers, teller
from fairway.hub.intake.owners_wish import NOWHERE
from fairway.hub.intake.submit import next_turn
from fairway.hub.messages import Orphan, Wish
from fairway.hub.telling.due import due_of
from fairway.hub.view import View
from fairway.wire import fleet
from fairway.wire.envelope import JobMessage

# Until all that is on the hub has been told (ms).
_LISTING_MS = 200


def of_job(view: View, heard: Heard[object], message: JobMessage | fleet.Shown, now: int) -> Decision:
    """It is kept until its owner was told."""
    job = view.jobs.get(message.job)
    uid = job.hub_uid if job is not None else ""
    known = teller(view, job)
    freed = next_turn(view, now) if view.turns.freed_now else ()
    if job is None or not uid:
        return Decision(reminders=freed)
    if heard.id in view.objects.in_hand.put_off:
        return Decision(again_in=_LISTING_MS)
    lost = uid not in view.objects and view.objects.listed and job.state not in NOWHERE
    orphan = (Reminder(Orphan(job.id)),) if lost else ()
    if known is None:
        kept = isinstance(message, JobMessage) and uid in view.objects.early
        return Decision(reminders=(*freed, *orphan), kept=kept)
    again = (Reminder(Wish(uid)),) if uid in view.objects.in_hand.asked_again else ()
    kept = heard.id in known.pending.ids
    shown = (due for one in followers(view, job) for due in due_of(view, one.one.uid, now))
    return Decision(reminders=(*freed, *orphan, *again, *due_of(view, known.one.uid, now), *shown), kept=kept)
