"""A hub as a dictionary of objects that answers the calls of the hub service as a test says."""

import copy
from collections.abc import Callable
from typing import Any

from fairway.domain.decision import Call, Outcome
from fairway.hub import calls
from fairway.hub.settings.ready_conditions import conditions_with
from fairway.hub.telling.bindings import KIND as BINDING
from fairway.workloads.kinds.registry import KINDS

Json = dict[str, Any]
Key = tuple[str, str, str]  # kind, namespace, name
Answer = Callable[[Call], Outcome]


class ScriptedHub:
    """`away`: nothing is reached. `refuses` answers a verb in the place of the hub. `changed` is told of each object
    that a call has changed, and of each that it took away as it was; `asked` are all calls, `served` the kinds of jobs
    that it has. A hub that is `forgetful` drops the conditions it is given."""

    def __init__(self) -> None:
        self.objects: dict[Key, Json] = {}
        self.asked: list[Call] = []
        self.away = False
        self.forgetful = False
        self.refuses: dict[str, Answer] = {}
        self.changed: list[Key | Json] = []
        self.served = {*KINDS}
        self.manifests: Callable[[int], Json | None] = lambda sequence: None
        self._version = 100
        self._notes: dict[str, tuple[str, str, str]] = {}

    def __call__(self, call: Call) -> Outcome:
        self.asked.append(call)
        if self.away:
            return unreachable(call)
        return self.refuses.get(call.verb, self._do)(call)

    def late(self, verb: str, meanwhile: Callable[[], None]) -> None:
        """Its next answer to a verb is on its way while that happens."""

        def answer(call: Call) -> Outcome:
            del self.refuses[verb]
            made = self._do(call)
            meanwhile()
            return made

        self.refuses[verb] = answer

    def _do(self, call: Call) -> Outcome:
        answers: dict[str, Answer] = {
            calls.EVENT: self._event,
            calls.CONDITION: self._condition,
            calls.STATUS: self._status,
            calls.RESET: self._reset,
            calls.BIND: self._bind,
            calls.UNBIND: self._unbind,
            calls.LOOK: self._look,
            calls.MANIFEST: self._manifest,
            calls.RUN: self._run,
        }
        return answers[call.verb](call)

    @property
    def notes(self) -> list[tuple[str, str, str]]:
        """Name, reason and text of each Event; what is told twice is there once."""
        return list(self._notes.values())

    def verbs(self, *left_out: str) -> list[str]:
        return [one.verb for one in self.asked if one.verb not in left_out]

    def put(self, kind: str, manifest: Json) -> Json:
        """As its owner applies it: another version, the status as it was."""
        meta = manifest["metadata"]
        key = (kind, meta.get("namespace", ""), meta["name"])
        known = self.objects.get(key)
        made = copy.deepcopy(manifest)
        if known is not None and known["metadata"]["uid"] == meta["uid"] and "status" in known:
            made.setdefault("status", known["status"])
        return self._write(key, made)

    def _write(self, key: Key, manifest: Json) -> Json:
        self._version += 1
        manifest = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(self._version)}}
        self.objects[key] = manifest
        return manifest

    def _event(self, call: Call) -> Outcome:
        note = call.body
        self._notes.setdefault(note.id, (note.about.name, note.reason, note.text))
        return Outcome(call, True)

    def _condition(self, call: Call) -> Outcome:
        one = call.body.one
        key = (one.kind, one.namespace, one.name)
        found = self.objects.get(key)
        if found is None or found["metadata"]["resourceVersion"] != one.manifest["metadata"]["resourceVersion"]:
            return Outcome(call, True, calls.NOT_TAKEN, "the object has been modified")
        if not self.forgetful:
            said = conditions_with(one, call.body.condition)
            self._write(key, {**found, "status": {**found.get("status", {}), "conditions": said}})
            self.changed.append(key)
        return Outcome(call, True)

    def _found(self, place: calls.Place) -> Json | None:
        return self.objects.get((place.kind, place.namespace, place.name))

    def _status(self, call: Call) -> Outcome:
        place = call.body.place
        found = self._found(place)
        if found is None or found["metadata"]["uid"] != place.uid:
            return Outcome(call, True, calls.NOT_TAKEN, "it is another one")
        self.show(place.kind, place.namespace, place.name, call.body.status)
        return Outcome(call, True)

    def show(self, kind: str, namespace: str, name: str, status: Json) -> None:
        """Somebody writes its status."""
        key = (kind, namespace, name)
        self._write(key, {**self.objects[key], "status": status})
        self.changed.append(key)

    def _reset(self, call: Call) -> Outcome:
        place = call.body
        found = self._found(place)
        if found is not None:
            kept = {name: value for name, value in found.items() if name != "status"}
            key = (place.kind, place.namespace, place.name)
            self._write(key, kept)
            self.changed.append(key)
        return Outcome(call, True)

    def _bind(self, call: Call) -> Outcome:
        meta = call.body.manifest["metadata"]
        self.objects[BINDING, meta["namespace"], meta["name"]] = call.body.manifest
        return Outcome(call, True)

    def _unbind(self, call: Call) -> Outcome:
        self.objects.pop((BINDING, call.body.namespace, call.body.name), None)
        return Outcome(call, True)

    def _run(self, call: Call) -> Outcome:
        body: calls.RunWrite = call.body
        place = body.place
        for name in body.drop:
            self.changed.append(self.objects.pop((body.run, place.namespace, name)))
        if body.manifest is not None:
            key = (body.run, place.namespace, body.manifest["metadata"]["name"])
            if key in self.objects:
                return Outcome(call, True, calls.THERE, "its controller has made it")
            meta = {**body.manifest["metadata"], "uid": f"u-{key[2]}", "creationTimestamp": key[2].zfill(60)}
            self._write(key, {**body.manifest, "metadata": meta})
            self.changed.append(key)
        if body.status and (found := self._found(place)) is not None:
            status = {**found.get("status", {}), **body.status}
            self.show(place.kind, place.namespace, place.name, status)
        return Outcome(call, True)

    def _manifest(self, call: Call) -> Outcome:
        return Outcome(call, True, body=self.manifests(call.body.sequence))

    def _look(self, call: Call) -> Outcome:
        place: calls.Place = call.body
        return Outcome(call, True, body=calls.FoundObject(self._found(place), place.kind in self.served, place.seen))


def not_taken(shown: Json | None = None, code: str = calls.NOT_TAKEN) -> Answer:
    """An answer of a hub that refuses; `shown` is what it has instead."""
    return lambda call: Outcome(call, True, code, "refused", shown)


def unreachable(call: Call) -> Outcome:
    """As of a hub that is away."""
    return Outcome(call, False, text="the hub is away")
