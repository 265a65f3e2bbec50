"""The memory of the hub service in parts, for a replay: all that no message to come would tell again."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from fairway.domain.decision import Call
from fairway.domain.held_object import HeldObject
from fairway.domain.tenancy.profile import SystemNamespaces
from fairway.hub.calls import (
    BIND,
    CONDITION,
    EVENT,
    LOOK,
    MANIFEST,
    RESET,
    RUN,
    STATUS,
    UNBIND,
    BindingWrite,
    ConditionWrite,
    Place,
    RunWrite,
    StatusWrite,
)
from fairway.hub.job_object import JobObject
from fairway.hub.known_objects import GangFollower
from fairway.hub.messages import Unbind
from fairway.hub.schedules.known_schedules import ScheduleObject
from fairway.hub.settings.settings_in_force import Full, InForce, RefusedSetting
from fairway.hub.telling.events import Note
from fairway.hub.telling.known_bindings import Written
from fairway.hub.telling.pending_update import HeardWord
from fairway.hub.telling.telling import Sent
from fairway.hub.view import View
from fairway.runtime.service import Remembered
from fairway.wire.spec import ManifestRef
from fairway.workloads.gangs.found_gang import FoundPod
from fairway.workloads.hub.objects import HubObject, Key
from fairway.workloads.references import Reference, Referenced
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
    RUN: RunWrite,
}
# Verb, job, attempt and body of a call, and the ids of the words that go with all of them.
_Calls = tuple[list[tuple[str, str, int, msgspec.Raw]], tuple[str, ...]]
_Lacks = tuple[tuple[str, str], ...]
_encode = msgspec.json.Encoder().encode
# A part travels whole, and a message of the bus takes a megabyte (bytes).
_PART = 100_000


class _Table(Struct, frozen=True):
    """What a part of the memory holds, entry by entry, of what type each is, and how it is taken back."""

    entries: Callable[[View], Iterable[Any]]
    kind: Any
    take: Callable[[View, Any], None]


def parts(known: View) -> Iterator[Remembered]:
    """Policies before the objects that wait for one: who takes a policy in lets those go that it selects. They are
    written down at once, for the memory goes on changing."""
    for name, table in _TABLES.items():
        for data in _pieces(table.entries(known)):
            yield Remembered(name, "", msgspec.Raw(data))


def _pieces(entries: Iterable[Any]) -> Iterator[bytes]:
    piece: list[bytes] = []
    size = 0
    for one in entries:
        data = _encode(one)
        if piece and size + len(data) > _PART:
            yield b"[%b]" % b",".join(piece)
            piece = []
            size = 0
        piece.append(data)
        size += len(data)
    if piece:
        yield b"[%b]" % b",".join(piece)


def recall(known: View, table: str, data: bytes) -> None:
    one = _TABLES[table]
    for entry in msgspec.json.decode(data, type=list[one.kind]):  # type: ignore[name-defined]  # as the table says
        one.take(known, entry)


def _value(part: Callable[[View], Any], name: str, kind: Any) -> _Table:
    """An attribute as a whole."""
    return _Table(
        lambda known: (getattr(part(known), name),), kind, lambda known, value: setattr(part(known), name, value)
    )


def _dict(part: Callable[[View], Any], name: str, key: Any, value: Any) -> _Table:
    def take(known: View, entry: tuple[Any, Any]) -> None:
        getattr(part(known), name)[entry[0]] = entry[1]

    return _Table(lambda known: getattr(part(known), name).items(), tuple[key, value], take)


def _set(part: Callable[[View], Any], name: str, kind: Any) -> _Table:
    return _Table(
        lambda known: getattr(part(known), name), kind, lambda known, entry: getattr(part(known), name).add(entry)
    )


def _sent(known: View) -> Iterator[Any]:
    for name, one in known.telling.sent.items():
        yield name, ([(call.verb, call.job, call.attempt, call.body) for call in one.calls], one.ids)


def _take_sent(known: View, entry: tuple[str, _Calls]) -> None:
    name, (calls, ids) = entry
    made = [Call(verb, "", job, attempt, _body(verb, body)) for verb, job, attempt, body in calls]
    known.telling.sent[name] = Sent(tuple(made), ids)


def _body(verb: str, body: msgspec.Raw) -> Any:
    return msgspec.json.decode(body, type=_BODIES[verb])


def _aside(known: View) -> Iterator[Any]:
    return ((place, list(kept.items())) for place, kept in known.hub_settings.aside.items())


def _take_aside(known: View, entry: tuple[Key, list[tuple[Full, HubObject]]]) -> None:
    place, kept = entry
    known.hub_settings.aside[place] = dict(kept)


def _policies(known: View) -> Iterator[Any]:
    room = known.hub_settings.room
    return ((key, room.manifests.get(key), size) for key, size in room.together.sizes())


def _take_policy(known: View, entry: tuple[Key, dict[str, Any] | None, PolicySize]) -> None:
    key, manifest, size = entry
    room = known.hub_settings.room
    if manifest is not None:
        room.put(read_policy(manifest), manifest)
    else:
        room.together.put(key, size)


def _waiting(known: View) -> Iterable[Any]:
    return known.hub_settings.room.waits()


def _take_waiting(known: View, entry: tuple[HubObject, _Lacks]) -> None:
    one, lacks = entry
    room = known.hub_settings.room
    room.wait(one)
    for each in lacks:
        room.wait(one, each)


def _take_gang_pod(known: View, entry: FoundPod) -> None:
    known.templates.gangs.take(entry)


def _settings(known: View) -> Any:
    return known.hub_settings


def _templates(known: View) -> Any:
    return known.templates


def _turns(known: View) -> Any:
    return known.turns


def _objects(known: View) -> Any:
    return known.objects


def _schedules(known: View) -> Any:
    return known.schedules


def _telling(known: View) -> Any:
    return known.telling


_TABLES: Mapping[str, _Table] = {
    "namespaces": _value(_settings, "namespaces", SystemNamespaces),
    "policies": _Table(_policies, tuple[Key, dict[str, Any] | None, PolicySize], _take_policy),
    "in_force": _dict(_settings, "in_force", Key, InForce),
    "holders": _dict(_settings, "holders", Key, Key),
    "aside": _Table(_aside, tuple[Key, list[tuple[Full, HubObject]]], _take_aside),
    "refused": _dict(_settings, "refused", Full, RefusedSetting),
    "complaints": _set(_settings, "complaints", Key),
    "newest": _dict(_settings, "newest", Full, int),
    "spoke": _dict(_settings, "spoke", str, str),
    "changed_at": _value(_settings, "changed_at", int),
    "templates": _dict(_templates, "there", Reference, Referenced),
    "template_places": _dict(_templates, "places", Reference, int),
    "gang_pods": _Table(lambda known: known.templates.gangs.pods.values(), FoundPod, _take_gang_pod),
    "uses": _Table(
        lambda known: known.templates.uses.items(),
        tuple[str, tuple[Reference, ...]],
        lambda known, entry: known.templates.take(*entry),
    ),
    "waiting": _Table(_waiting, tuple[HubObject, _Lacks], _take_waiting),
    "ready": _dict(_turns, "ready", str, HubObject),
    "until": _dict(_turns, "until", str, int),
    "name_holders": _dict(_turns, "holders", str, set[str]),
    "names": _dict(lambda known: known.turns.rows, "names", str, str),
    "next_at": _value(_turns, "next_at", int | None),
    "seen_since": _dict(lambda known: known.turns.delay, "since", str, int),
    "rate": _dict(lambda known: known.turns.pace.jobs, "used", str, int),
    "bytes": _dict(lambda known: known.turns.pace.bytes, "used", str, int),
    "schedules": _dict(_schedules, "there", str, ScheduleObject),
    "left_schedules": _dict(_schedules, "left", str, ScheduleObject),
    "schedule_place": _value(_schedules, "place", int),
    "listed_runs": _set(_schedules, "listed", str),
    "objects": _dict(_objects, "there", str, JobObject),
    "left": _dict(_objects, "left", str, JobObject),
    "listed": _value(_objects, "listed", bool),
    "place": _value(_objects, "place", int),
    "early": _dict(_objects, "early", str, list[HeardWord]),
    "held_before": _dict(_objects, "held_before", str, HeldObject),
    "unseen": _dict(_objects, "unseen", str, str),
    "followers": _dict(_objects, "followers", str, GangFollower),
    "bindings": _dict(lambda known: known.telling.bindings, "there", tuple[str, str], Written),
    "served": _value(lambda known: known.telling.bindings, "served", bool),
    "asked": _value(lambda known: known.telling.bindings, "asked", bool),
    "paced": _value(lambda known: known.telling.pace, "used", int),
    "showing": _set(_telling, "showing", str),
    "telling": _dict(_telling, "telling", str, int),
    "sent": _Table(_sent, tuple[str, _Calls], _take_sent),
}
