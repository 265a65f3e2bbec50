"""What is said of a setting of the hub: in force, withdrawn, refused. Pure."""

from msgspec.structs import replace

from fairway.domain.decision import Call, Decision, Heard, Reminder, Say, Step
from fairway.domain.quota.tree import ALLOW_NAMESPACES
from fairway.explain.events import reason
from fairway.hub.calls import CONDITION, EVENT, ConditionWrite, failed
from fairway.hub.intake.submission_delay import SETTLE_MS
from fairway.hub.messages import SettingSeen, SettingsListed, Turn
from fairway.hub.settings.ready_conditions import IN_FORCE, SettingStanding, condition_of, ready_of, without_one
from fairway.hub.settings.settings_in_force import SettingsInForce
from fairway.hub.telling.events import Note, note_of
from fairway.hub.view import View
from fairway.wire.fleet import Configured
from fairway.wire.reasons import Reason
from fairway.workloads.hub import objects
from fairway.workloads.hub.objects import HubObject, Json, Key, hub_object, of_hub, only_named
from fairway.workloads.hub.setting_limits import beyond
from fairway.workloads.settings.field_effects import said_of

_AGAIN_MS = 1_000
_GOOD = "in force in the whole fleet"
_LINE_OF_NOBODY = (
    f"{_GOOD}; its annotation {ALLOW_NAMESPACES} lists no namespace, so that jobs may name it only "
    "if a TenantProfile lists it or the quota leaf that it stands for is theirs"
)


def seen_as(message: SettingSeen) -> HubObject:
    """The object as the fleet needs to know it. Of a namespace only what it says of pods counts."""
    one = hub_object(message.kind, message.manifest)
    return objects.labelled(one) or one if message.kind == objects.NAMESPACE else one


def setting_seen(view: View, heard: Heard[object], message: SettingSeen, now: int) -> Decision:
    """First what is to be said of it, then, once more, what its condition has to be."""
    known = view.hub_settings
    one = seen_as(message)
    says_nothing = message.kind == objects.NAMESPACE and objects.labelled(one) is None
    if message.gone or says_nothing:
        return _withdrawn(view, one.key, one.kind, now)
    if known.newest.get((one.kind, one.key)) != message.place:
        return Decision()  # it has changed since
    if heard.outcomes:
        return Decision(again_in=_AGAIN_MS) if failed(heard) else Decision()
    if words := _words(known, one, now):
        taken = all(isinstance(say.message, Configured) for say in words)
        told = Decision(reminders=_look(view)) if taken and _goes_unsaid(known, one) else Decision(again_in=0)
        return replace(told, steps=(Step(events=words),))
    return _told(view, one, now)


def _words(known: SettingsInForce, one: HubObject, now: int) -> tuple[Say, ...]:
    if _stands(known, one):
        return ()
    reasons = _beyond(known, one) or objects.problems_of(one, known.namespaces.admin) or _rival(known, one)
    if reasons:
        before = known.refused.get((one.kind, one.key))
        same = before is not None and (before.digest, before.reasons[0].code) == (one.digest, reasons[0].code)
        return () if same else (objects.not_taken(one, reasons, now),)
    return tuple(_accepted(known, one, now))


def _accepted(known: SettingsInForce, one: HubObject, now: int) -> list[Say]:
    words = []
    holder = known.holders.get(objects.place_of(one.key))
    if holder is not None and holder != one.key:
        was = known.in_force[holder].digest
        words.append(objects.withdrawn(holder, f"{was}/{now}", now))
    before = known.in_force.get(one.key)
    if before is None or (before.kind, before.digest) != (one.kind, one.digest):
        words.append(objects.configured(one, of_hub(one.namespace, one.uid), now))
    if (one.kind, one.key) in known.refused or one.key in known.complaints:
        words.append(objects.not_taken(one, (), now))
    return words


def _stands(known: SettingsInForce, one: HubObject) -> bool:
    """It is in force just as it is: what changed is its status, or nothing."""
    before = known.in_force.get(one.key)
    if before is None or before.kind != one.kind or (one.kind, one.key) in known.refused:
        return False
    if objects.misplaced(one.kind, one.key, known.namespaces.admin) or one.key in known.complaints:
        return False
    return before.digest == one.digest


def _beyond(known: SettingsInForce, one: HubObject) -> tuple[Reason, ...]:
    """Why it is too large; what is in force just so, since before this was asked, stays."""
    before = known.in_force.get(one.key)
    if before is not None and (before.kind, before.digest) == (one.kind, one.digest):
        return ()
    return beyond(one, known.room.together)


def _rival(known: SettingsInForce, one: HubObject) -> tuple[Reason, ...]:
    """Why another object stands where there can be only one."""
    holder = known.holders.get(objects.place_of(one.key))
    if holder is None:
        return ()
    why = objects.rival_of(one, holder, known.in_force[holder].kind, known.namespaces.admin)
    return (why,) if why else ()


def _withdrawn(view: View, key: Key, kind: str, now: int) -> Decision:
    """It is no longer in force; whom it kept out is looked at again, the oldest first."""
    known = view.hub_settings
    before = known.in_force.get(key)
    if before is None or before.kind != kind:
        return Decision()  # an object of the other group stands under this name
    say = objects.withdrawn(key, f"{before.digest}/{now}", now)
    out = known.aside.get(objects.place_of(key), {}).values()
    kept_out = sorted(out, key=lambda one: (one.created, one.namespace, one.name))
    again = tuple(
        Reminder(SettingSeen(one.kind, one.manifest, place=known.newest[one.kind, one.key])) for one in kept_out
    )
    return Decision((Step(events=(say,)),), reminders=(*again, *_look(view)))


def listed(view: View, message: SettingsListed, now: int) -> Decision:
    """What of a kind was deleted while nobody looked is withdrawn."""
    made = [_withdrawn(view, key, message.kind, now) for key in view.hub_settings.unseen(message.kind)]
    return Decision(
        tuple(step for one in made for step in one.steps),
        reminders=tuple(again for one in made for again in one.reminders),
    )


def _told(view: View, one: HubObject, now: int) -> Decision:
    """Its condition, and an Event."""
    known = view.hub_settings
    calls = []
    standing = _standing(known, one)
    if standing is not None and one.uid and one.kind not in known.spoke and not without_one(one):
        said = condition_of(one, standing, now)
        # A hub may drop what it is given: it is not told the same again.
        if said is not None and known.spoke.get(one.uid) != mark_of(said):
            calls.append(Call(CONDITION, "", "", 0, ConditionWrite(one, said)))
    if standing is not None and (note := _note(known, one, standing)) is not None:
        calls.append(Call(EVENT, "", "", 0, note))
    return Decision(calls=tuple(calls)) if calls else Decision(reminders=_look(view))


def _note(known: SettingsInForce, one: HubObject, standing: SettingStanding) -> Note | None:
    """That it is refused, or, where no condition says so, that some of it has no effect: each once."""
    if (refused := known.refused.get((one.kind, one.key))) is not None:
        mark = f"{refused.digest}/{refused.reasons[0].code.value}"
        note = note_of(one, "Refused", f"{one.plain} is not taken: {standing.text}", mark)
        return None if refused.told else note
    if not without_one(one) or not said_of(one.manifest):
        return None
    note = note_of(one, "WithoutEffect", standing.text, one.digest)
    return None if known.spoke.get(one.uid) == note.id else note


def _look(view: View) -> tuple[Reminder, ...]:
    """Jobs that wait for it are looked at once what else was applied with it is here."""
    return (Reminder(Turn(), SETTLE_MS),) if view.turns.next_at is None else ()


def mark_of(condition: Json) -> str:
    return f"{condition['status']} {condition['reason']} {condition.get('observedGeneration')} {condition['message']}"


def _standing(known: SettingsInForce, one: HubObject) -> SettingStanding | None:
    if refused := known.refused.get((one.kind, one.key)):
        before = known.in_force.get(one.key)
        kept = "; the last good one stays in force" if before is not None and before.kind == one.kind else ""
        text = f"{'; '.join(map(reason, refused.reasons))}{kept}"
        return SettingStanding(False, refused.reasons[0].code.value, text)
    if _goes_unsaid(known, one):
        return None
    good = _LINE_OF_NOBODY if objects.open_to_nobody(one) else _GOOD
    return SettingStanding(True, IN_FORCE, good + said_of(one.manifest))


def _goes_unsaid(known: SettingsInForce, one: HubObject) -> bool:
    """That it is in force: a write for each of ten thousand jobs with policies of their own would say what their
    bindings say anyway."""
    return not (said_of(one.manifest) or not only_named(one) or ready_of(one) or one.uid in known.spoke)
