"""What is done for a schedule: its run is made, old ones go, and its status says so. Pure."""

from msgspec import structs

from fairway.domain.decision import Call, Decision, Heard, Reminder
from fairway.hub.calls import EVENT, LOOK, NOT_TAKEN, RUN, Place, RunWrite, failed
from fairway.hub.messages import ScheduleSeen, Tend
from fairway.hub.schedules.known_schedules import ScheduleObject
from fairway.hub.schedules.work_due import PATIENCE_MS, WorkDue
from fairway.hub.telling.events import note_of
from fairway.hub.view import View
from fairway.workloads.hub.objects import hub_object, leaving
from fairway.workloads.schedules.registry import SCHEDULES

_AGAIN_MS = 1_000
_INVALID = "InvalidSchedule"
_NOT_MADE = "FailedCreate"


def schedule_seen(view: View, heard: Heard[object], message: ScheduleSeen, now: int) -> Decision:
    """What cannot be read is said on the object; all else is looked at."""
    one = hub_object(message.kind, message.manifest)
    if (left := view.schedules.left.get(one.uid)) is not None:
        return _gone(left, heard) if message.gone or leaving(one) else Decision()
    known = view.schedules.get(one.uid)
    if known is None or known.place != message.place:
        return Decision()
    _, wrong = known.read()
    if not wrong:
        return Decision(reminders=_look(known, now, now))
    if heard.outcomes:
        return Decision(again_in=_AGAIN_MS) if failed(heard) else Decision()
    if known.told == known.one.digest:
        return Decision()
    text = "; ".join(f"{one.field} {one.text}: {one.remedy}" for one in wrong)
    return Decision(calls=(Call(EVENT, "", "", 0, note_of(known.one, _INVALID, text, known.one.digest)),))


def _gone(left: ScheduleObject, heard: Heard[object]) -> Decision:
    """Its runs go with it, whether the hub collects garbage or not."""
    if not left.listed:
        return Decision(again_in=_AGAIN_MS)
    if heard.outcomes:
        return Decision(again_in=_AGAIN_MS) if failed(heard) else Decision()
    names = tuple(sorted(run.name for run in left.runs.values()))
    return Decision(calls=(Call(RUN, "", "", 0, _write(left, WorkDue(), names)),)) if names else Decision()


def stirred(view: View, made: Decision, now: int) -> Decision:
    """Schedules of which a run was made, has ended, or is gone, are looked at."""
    more = [one for uid in sorted(view.schedules.stirred) for one in _of(view, uid, now)]
    return structs.replace(made, reminders=(*made.reminders, *more)) if more and not made.calls else made


def _of(view: View, uid: str, now: int) -> tuple[Reminder, ...]:
    known = view.schedules.get(uid)
    return _look(known, now, now) if known is not None else ()


def tend(view: View, heard: Heard[object], message: Tend, now: int) -> Decision:
    known = view.schedules.get(message.uid)
    if known is None or (known.number != message.number and not heard.outcomes):
        return Decision()
    if failed(heard):
        return Decision(again_in=_AGAIN_MS)
    if heard.outcomes and heard.outcomes[-1].call.verb != LOOK:
        return _made(known, heard, now)
    what = known.work(now)
    if what.make is not None and (places := _unknown(known, heard)):
        return Decision(calls=tuple(Call(LOOK, "", "", 0, place) for place in places))
    if what.make is None and not what.drop and not _status_due(known, what, now):
        return Decision(reminders=_look(known, _again(known, what, now), now, new=True))
    return Decision(calls=(Call(RUN, "", "", 0, _write(known, what, tuple(run.name for run in what.drop))),))


def _unknown(known: ScheduleObject, heard: Heard[object]) -> tuple[Place, ...]:
    """What the hub is asked for before a run is made: a watch may be late. The schedule itself, and then the runs that
    should be there."""
    one = known.one
    if not heard.outcomes:
        return (Place(one.kind, one.namespace, one.name, one.uid),)
    return known.unknown() if len(heard.outcomes) == 1 else ()


def _again(known: ScheduleObject, what: WorkDue, now: int) -> int | None:
    """When to look next. That a run ends which no watch has shown, none may show either."""
    found = now + PATIENCE_MS if known.found.runs else None
    times = [at for at in (what.next, known.status_due(now), found) if at is not None]
    return min(times) if what.next is not None else None


def _status_due(known: ScheduleObject, what: WorkDue, now: int) -> bool:
    at = known.status_due(now) if what.next is not None else None
    return at is not None and at <= now


def _made(known: ScheduleObject, heard: Heard[object], now: int) -> Decision:
    """Its hub was asked. What it refuses is said on the schedule, and tried at the next time."""
    last = heard.outcomes[-1]
    if last.call.verb == RUN and last.code == NOT_TAKEN:
        note = note_of(known.one, _NOT_MADE, f"Its run was not made: {last.text}", str(now))
        return Decision(calls=(Call(EVENT, "", "", 0, note),))
    what = known.work(now)
    # Meanwhile a run may have ended.
    soon = what.make is not None or what.drop or _status_due(known, what, now)
    return Decision(reminders=_look(known, now if soon else _again(known, what, now), now, new=True))


def _write(known: ScheduleObject, what: WorkDue, drop: tuple[str, ...]) -> RunWrite:
    one = known.one
    kind = SCHEDULES[one.kind]
    made = kind.run_of(known.newest.manifest, what.make) if what.make is not None else None
    # One that is there already, made by who could not say so, does not give way to itself.
    drop = tuple(name for name in drop if made is None or name != made["metadata"]["name"])
    left = [run for run in known.known_runs() if run.name not in drop]
    status = kind.status(left, one.namespace)
    schedule, _ = known.read()
    if made is not None and what.make is not None and schedule is not None:
        status |= kind.made(made["metadata"]["name"], what.make, schedule.next(what.make))
    place = Place(one.kind, one.namespace, one.name, one.uid)
    return RunWrite(place, kind.run, made, tuple(sorted(drop)), status, kind.part, what.make)


def _look(known: ScheduleObject, at: int | None, now: int, new: bool = False) -> tuple[Reminder, ...]:
    """A look at the schedule by then, unless one is under way that is not later, or this one was just that."""
    if at is None or (not new and known.looked and known.looked <= max(at, now)):
        return ()
    return (Reminder(Tend(known.one.uid, at, known.number + 1), max(at - now, 1)),)
