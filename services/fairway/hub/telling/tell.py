"""What the owner of an object is told: an Event for each change of the reason, and its ResourceBinding. Pure."""

from collections.abc import Container

from msgspec import structs

from fairway.domain.decision import Call, Decision, Heard, Reminder
from fairway.domain.fold import caught_up
from fairway.domain.job import Job
from fairway.explain.events import reason
from fairway.hub.calls import BIND, EVENT, STATUS, UNBIND, BindingWrite, Place, StatusWrite, failed
from fairway.hub.gang_pods import behind, teller_of
from fairway.hub.job_object import JobObject
from fairway.hub.messages import Show, Tell, Unbind
from fairway.hub.telling.bindings import Binding, Condition, binding_of, unclaimed, up_to_date
from fairway.hub.telling.events import Note, note_of, note_on
from fairway.hub.telling.pending_update import HeardWord, kept, take
from fairway.hub.telling.statuses import next_status
from fairway.hub.view import View
from fairway.wire import jobs as wire

_AGAIN_MS = 1_000
_STEP_MS = 100
_WAITS = wire.Blocked | wire.Queue | wire.Unclaimed
_OVER = wire.Failed | wire.Lost


def tell(view: View, heard: Heard[object], message: Tell, now: int) -> Decision:
    """Once what is to be told stands still, and the hub may be written to."""
    one = view.objects.get(message.uid)
    if one is None or (one.leader and heard.outcomes):
        return Decision(reminders=_left_behind(view, message.uid) if heard.outcomes else ())
    if not one.pending.due or not view.telling.bindings.asked:
        return Decision()
    if view.telling.replaced(message.uid, message.at):
        return Decision()
    if heard.outcomes and failed(heard):
        return Decision(again_in=_AGAIN_MS)
    # What many wait for is worked out when it is their turn, and not whenever anybody's is.
    if not heard.outcomes and (at := view.telling.turn(one.pending, now)) > view.telling.looked:
        return Decision(again_in=after(at, now))
    if calls := _calls(view, one, now):
        return Decision(again_in=0) if heard.outcomes else Decision(calls=calls)
    if behind(view, one):
        return Decision()  # the words that it follows from are kept until it shows, and this is heard again then
    return Decision(done=(*one.pending.over, *one.pending.ids))


def after(at: int, now: int) -> int:
    """How long until owners are told next, then or later: to look at one of them costs as much as at many."""
    return max(-(-at // _STEP_MS) * _STEP_MS - now, 0)


def _left_behind(view: View, uid: str) -> tuple[Reminder, ...]:
    """The object was deleted, or went with another pod, while its binding was written: perhaps that was made after it
    was to be removed."""
    there = view.telling.bindings.there.items()
    return tuple(Reminder(Unbind(*key, uid)) for key, one in there if one.owner == uid)


def _calls(view: View, one: JobObject, now: int) -> tuple[Call, ...]:
    if one.leader:
        return ()  # its owner is told by that one's binding
    if not one.submitted:
        return _of_held(view, one, now)
    words = take(one.pending)
    job = view.jobs.get(one.job)
    for word in words:
        job = caught_up(job, word.message)
    if job is None or job.hub_uid != one.one.uid:
        return ()
    calls = [Call(EVENT, "", job.id, job.attempt, note) for note in _notes(one, job, words)]
    binding = binding_of(one.one, job, one.shown.status, _change(view, one, job))
    return (*calls, *_bound(view, binding, job.id, now))


def _change(view: View, one: JobObject, job: Job) -> Condition | None:
    """What became of its owner's last change. What was told to another process its binding still says."""
    wish = one.wish
    if wish.refusal is not None or wish.answered:
        return up_to_date(wish.refusal)
    there = view.telling.bindings.of(one.one)
    if there is None or there.change is None:
        return None
    asked = job.spec is None or wish.asked in ("", job.spec.manifest.sha256)
    return up_to_date(None) if asked and wish.said == wish.digest else there.change


def _of_held(view: View, one: JobObject, now: int) -> tuple[Call, ...]:
    """Why it is not submitted."""
    held = one.held
    if held is None:
        return ()
    code = held.why.code.value
    calls = []
    if one.told.last != code:
        note = note_of(one.one, code, f"Waits: {reason(held.why)}", "")
        calls.append(Call(EVENT, "", one.job, 0, note))
    return (*calls, *_bound(view, unclaimed(one.one, one.job, held.why), one.job, now))


def _bound(view: View, binding: Binding, job: str, now: int) -> tuple[Call, ...]:
    if not view.telling.bindings.new(binding, view.objects):
        return ()
    return (Call(BIND, "", job, 0, BindingWrite(*view.telling.bindings.manifest(binding, now))),)


def _notes(one: JobObject, job: Job, words: tuple[HeardWord, ...]) -> list[Note]:
    told = one.told
    same = (told.job, told.attempt) == (job.id, job.attempt)
    reasons = set(told.reasons) if same else set()
    last = told.last if same else ""
    found = []
    for word in words:
        if word.message.tenant != job.tenant or word.message.job != job.id:
            continue  # said in another tenant's name, it is among the dead letters
        note = note_on(job, word.message, word.id, not reasons.isdisjoint(("Dispatched", "Running")))
        if note is None or note.reason in _known(word.message, reasons, last):
            continue
        # The object itself, while it is there: a rejection does not name its API group.
        found.append(structs.replace(note, about=one.one))
        reasons.add(note.reason)
        last = note.reason
    return found


def _known(message: wire.JobMessage, reasons: set[str], last: str) -> Container[str]:
    """The reasons that need not be told again: each attempt that is over has its own, whatever was told before."""
    if isinstance(message, _OVER):
        return ()
    return reasons if isinstance(message, _WAITS) else (last,)


def show(view: View, heard: Heard[object], message: Show, now: int) -> Decision:
    """The status, once changes of one moment are together. What is not taken is made anew on what is shown by then."""
    one = view.objects.get(message.uid)
    if one is None or one.shown.wanted is None:
        return Decision()
    if heard.outcomes:
        return Decision(again_in=_AGAIN_MS if failed(heard) else 0)
    if one.shown.due > view.telling.looked:
        return Decision(again_in=max(one.shown.due - now, 0))
    new = next_status(one, view.jobs.get(one.job))
    if new is None:
        said = teller_of(view, one)
        told = said is not None and kept(said.pending) and view.telling.late(said.one.uid, now)
        return Decision(reminders=(Reminder(Tell(said.one.uid, now)),) if said is not None and told else ())
    place = Place(one.one.kind, one.one.namespace, one.one.name, one.one.uid)
    return Decision(calls=(Call(STATUS, "", one.job, one.shown.wanted.attempt, StatusWrite(place, new)),))


def unbind(view: View, heard: Heard[object], message: Unbind) -> Decision:
    """A hub with a garbage collector may have removed it first."""
    there = view.telling.bindings.there.get((message.namespace, message.name))
    if there is None or there.owner != message.owner or view.objects.binds(message.owner):
        return Decision()
    if heard.outcomes:
        return Decision(again_in=_AGAIN_MS) if failed(heard) else Decision()
    return Decision(calls=(Call(UNBIND, "", "", 0, message),))
