"""How the memory changes by what is seen of schedules, and by what came of what was written for them."""

from typing import Any

from fairway.domain.decision import Decision, Heard
from fairway.hub.calls import RUN, RunWrite
from fairway.hub.messages import ObjectSeen, ScheduleSeen, Tend
from fairway.hub.schedules.known_schedules import ScheduleObject
from fairway.hub.schedules.work_due import Before, WorkDue
from fairway.hub.telling.telling import Sent
from fairway.hub.view import View
from fairway.workloads.hub.objects import hub_object, leaving


def seen(view: View, message: ScheduleSeen) -> None:
    one = hub_object(message.kind, message.manifest)
    view.schedules.see(one, message.place, message.gone or leaving(one))


def run_seen(view: View, message: ObjectSeen) -> None:
    """An object that a schedule made, or its controller; as the intake has just taken it."""
    one = hub_object(message.kind, message.manifest)
    known = view.objects.get(one.uid)
    if known is not None and known.place == message.place:
        view.schedules.see_run(one, gone=False)
    elif message.gone or leaving(one):
        view.schedules.see_run(one, gone=True)


def outcomes(view: View, heard: Heard[Any], sent: Sent) -> None:
    """Of the calls that were made for a message."""
    outcome = heard.outcomes[-1]
    match heard.message:
        case Tend(uid) if (known := view.schedules.get(uid)) is not None:
            if sent.calls[0].verb == RUN and outcome.ok:
                _written(known, sent.calls[0].body, outcome.code)
        case ScheduleSeen(kind, manifest):
            known = view.schedules.get(hub_object(kind, manifest).uid)
            if known is not None and outcome.ok:
                known.told = known.one.digest


def _written(known: ScheduleObject, body: RunWrite, code: str) -> None:
    known.runs = {uid: run for uid, run in known.runs.items() if run.name not in body.drop}
    if body.at is not None:
        known.before = Before(max(known.before.passed, body.at), ours=not code)


def _looked(before: Before, what: WorkDue) -> Before:
    return Before(max(before.passed, what.passed or 0), before.ours, what.waits or before.wait)


def decided(view: View, heard: Heard[Any], made: Decision, now: int) -> None:
    """What is on its way by now."""
    match heard.message:
        case Tend(uid, _, number) if not made.calls and made.again_in is None:
            known = view.schedules.get(uid)
            if known is not None and known.number == number:
                known.looked = 0
                known.before = _looked(known.before, known.work(now))
        case ObjectSeen() if not made.calls:
            view.schedules.stirred = set()
        case ScheduleSeen(kind, manifest, gone=True) if not made.calls:
            view.schedules.left.pop(hub_object(kind, manifest).uid, None)
    for one in made.reminders:
        if isinstance(one.message, Tend) and (known := view.schedules.get(one.message.uid)) is not None:
            known.looked = one.message.at
            known.number = one.message.number
