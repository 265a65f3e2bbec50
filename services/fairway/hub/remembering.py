"""The memory of the hub service in parts, for a replay: all that no message to come would tell again."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from fairway.domain.decision import Call
from fairway.domain.held_object import HeldObject
from fairway.hub.calls import (
    BIND,
    CONDITION,
    EVENT,
    LOOK,
    MANIFEST,
    RESET,
    STATUS,
    UNBIND,
    BindingWrite,
    ConditionWrite,
    Place,
    StatusWrite,
)
from fairway.hub.job_object import JobObject
from fairway.hub.messages import Unbind
from fairway.hub.settings.settings_in_force import Full, InForce, RefusedSetting
from fairway.hub.telling.events import Note
from fairway.hub.telling.known_bindings import Written
from fairway.hub.telling.pending_update import HeardWord
from fairway.hub.telling.telling import Sent
from fairway.hub.view import View
from fairway.runtime.service import Remembered
from fairway.wire.spec import ManifestRef
from fairway.workloads.hub.objects import HubObject, Key
from fairway.workloads.settings.policies import read_policy
from fairway.workloads.settings.policy_limits import PolicySize

_BODIES: Mapping[str, Any] = {
    EVENT: Note,
    CONDITION: ConditionWrite,
    STATUS: StatusWrite,
    RESET: Place,
    BIND: BindingWrite,
    UNBIND: Unbind,
    LOOK: Place,
    MANIFEST: ManifestRef,
}
# Verb, job, attempt and body of a call, and the ids of the words that go with all of them.
_Calls = tuple[list[tuple[str, str, int, msgspec.Raw]], tuple[str, ...]]
_Lacks = tuple[tuple[str, str], ...]


def parts(known: View) -> Iterator[Remembered]:
    """Policies before the objects that wait for one: who takes a policy in lets those go that it selects."""
    for table, (tell, _, _) in _PARTS.items():
        yield Remembered(table, "", tell(known))


def recall(known: View, table: str, data: bytes) -> None:
    _, kind, take = _PARTS[table]
    take(known, msgspec.json.decode(data, type=kind))


def _plain(part: Callable[[View], Any], name: str, kind: Any) -> tuple[Any, Any, Any]:
    """An attribute that JSON can say as it is."""
    return (
        lambda known: getattr(part(known), name),
        kind,
        lambda known, value: setattr(part(known), name, value),
    )


def _pairs(part: Callable[[View], Any], name: str, key: Any, value: Any) -> tuple[Any, Any, Any]:
    """A dictionary whose keys are no texts."""
    return (
        lambda known: list(getattr(part(known), name).items()),
        list[tuple[key, value]],
        lambda known, found: setattr(part(known), name, dict(found)),
    )


def _sent(known: View) -> dict[str, Any]:
    return {
        name: ([(call.verb, call.job, call.attempt, call.body) for call in one.calls], one.ids)
        for name, one in known.telling.sent.items()
    }


def _take_sent(known: View, found: dict[str, _Calls]) -> None:
    for name, (calls, ids) in found.items():
        made = [Call(verb, "", job, attempt, _body(verb, body)) for verb, job, attempt, body in calls]
        known.telling.sent[name] = Sent(tuple(made), ids)


def _body(verb: str, body: msgspec.Raw) -> Any:
    return msgspec.json.decode(body, type=_BODIES[verb])


def _aside(known: View) -> list[Any]:
    return [(place, list(kept.items())) for place, kept in known.hub_settings.aside.items()]


def _take_aside(known: View, found: list[tuple[Key, list[tuple[Full, HubObject]]]]) -> None:
    known.hub_settings.aside = {place: dict(kept) for place, kept in found}


def _policies(known: View) -> list[Any]:
    room = known.hub_settings.room
    return [(key, room.manifests.get(key), size) for key, size in room.together.sizes()]


def _take_policies(known: View, found: list[tuple[Key, dict[str, Any] | None, PolicySize]]) -> None:
    room = known.hub_settings.room
    for key, manifest, size in found:
        if manifest is not None:
            room.put(read_policy(manifest), manifest)
        else:
            room.together.put(key, size)


def _take_waiting(known: View, found: list[tuple[HubObject, _Lacks]]) -> None:
    room = known.hub_settings.room
    for one, lacks in found:
        room.wait(one)
        for each in lacks:
            room.wait(one, each)


def _settings(known: View) -> Any:
    return known.hub_settings


def _turns(known: View) -> Any:
    return known.turns


def _objects(known: View) -> Any:
    return known.objects


_PARTS: Mapping[str, tuple[Any, Any, Any]] = {
    "policies": (_policies, list[tuple[Key, dict[str, Any] | None, PolicySize]], _take_policies),
    "in_force": _pairs(_settings, "in_force", Key, InForce),
    "holders": _pairs(_settings, "holders", Key, Key),
    "aside": (_aside, list[tuple[Key, list[tuple[Full, HubObject]]]], _take_aside),
    "refused": _pairs(_settings, "refused", Full, RefusedSetting),
    "complaints": _plain(_settings, "complaints", set[Key]),
    "newest": _pairs(_settings, "newest", Full, int),
    "spoke": _plain(_settings, "spoke", dict[str, str]),
    "changed_at": _plain(_settings, "changed_at", int),
    "waiting": (lambda known: known.hub_settings.room.waits(), list[tuple[HubObject, _Lacks]], _take_waiting),
    "ready": _plain(_turns, "ready", dict[str, HubObject]),
    "until": _plain(_turns, "until", dict[str, int]),
    "name_holders": _plain(_turns, "holders", dict[str, set[str]]),
    "names": _plain(lambda known: known.turns.rows, "names", dict[str, str]),
    "next_at": _plain(_turns, "next_at", int | None),
    "seen_since": _plain(lambda known: known.turns.delay, "since", dict[str, int]),
    "rate": _plain(lambda known: known.turns.pace, "used", dict[str, int]),
    "objects": _plain(_objects, "there", dict[str, JobObject]),
    "left": _plain(_objects, "left", dict[str, JobObject]),
    "listed": _plain(_objects, "listed", bool),
    "early": _plain(_objects, "early", dict[str, list[HeardWord]]),
    "held_before": _plain(_objects, "held_before", dict[str, HeldObject]),
    "unseen": _plain(_objects, "unseen", dict[str, str]),
    "bindings": _pairs(lambda known: known.telling.bindings, "there", tuple[str, str], Written),
    "served": _plain(lambda known: known.telling.bindings, "served", bool),
    "paced": _plain(lambda known: known.telling.pace, "used", int),
    "showing": _plain(lambda known: known.telling, "showing", set[str]),
    "telling": _plain(lambda known: known.telling, "telling", set[str]),
    "sent": (_sent, dict[str, _Calls], _take_sent),
}
