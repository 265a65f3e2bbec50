"""How the memory changes by what is seen of schedules, and by what came of what was written for them."""

from typing import Any

from msgspec import structs

from fairway.domain.decision import Decision, Heard, Outcome
from fairway.hub.calls import LOOK, NOT_TAKEN, RUN, FoundObject, RunWrite
from fairway.hub.messages import ObjectSeen, RunsListed, ScheduleSeen, Tend
from fairway.hub.schedules.known_schedules import FoundOnHub, ScheduleObject
from fairway.hub.schedules.work_due import Before
from fairway.hub.telling.telling import Sent
from fairway.hub.view import View
from fairway.workloads.hub.objects import hub_object, leaving
from fairway.workloads.schedules.registry import SCHEDULES


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
            elif sent.calls[0].verb == LOOK:
                _found(known, sent, heard.outcomes[-len(sent.calls) :])
        case ScheduleSeen(kind, manifest):
            known = view.schedules.get(hub_object(kind, manifest).uid)
            if known is not None and outcome.ok:
                known.told = known.one.digest


def _found(known: ScheduleObject, sent: Sent, made: tuple[Outcome, ...]) -> None:
    """What the hub does not let Fairway look at is what the watches have shown of it."""
    for call, outcome in zip(sent.calls, made, strict=True):
        if isinstance(outcome.body, FoundObject):
            (known.find_itself if call.body.uid else known.find)(outcome.body)


def _written(known: ScheduleObject, body: RunWrite, code: str) -> None:
    known.runs = {uid: run for uid, run in known.runs.items() if run.name not in body.drop}
    said = SCHEDULES[known.one.kind].status((), known.one.namespace)
    wrote = {name: body.status.get(name) for name in said}
    known.before = structs.replace(known.before, wrote=wrote, unlike=0)
    if body.manifest is None or body.at is None:
        return
    name = body.manifest["metadata"]["name"]
    known.before = Before(max(known.before.passed, body.at), ours=not code, wrote=wrote)
    if code != NOT_TAKEN and all(run.name != name for run in known.runs.values()):
        known.made = name


def _looked(known: ScheduleObject, now: int) -> Before:
    before = known.before
    what = known.work(now)
    since = 0 if known.status_due(now) is None else before.unlike or now
    passed = max(before.passed, what.passed or 0)
    return structs.replace(before, passed=passed, wait=what.waits or before.wait, unlike=since)


def decided(view: View, heard: Heard[Any], made: Decision, now: int) -> None:
    """What is on its way by now."""
    match heard.message:
        case Tend(uid, _, number) if (known := view.schedules.get(uid)) is not None:
            if made.calls and not heard.outcomes:
                known.found = FoundOnHub(known.place)
            elif not made.calls and made.again_in is None and known.number == number:
                known.looked = 0
                known.before = _looked(known, now)
                known.found = FoundOnHub()
        case ObjectSeen() | RunsListed() if not made.calls:
            view.schedules.stirred = set()
        case ScheduleSeen(kind, manifest, gone=True) if not made.calls and made.again_in is None:
            view.schedules.left.pop(hub_object(kind, manifest).uid, None)
    for one in made.reminders:
        if isinstance(one.message, Tend) and (known := view.schedules.get(one.message.uid)) is not None:
            known.looked = one.message.at
            known.number = one.message.number
