"""Carries out what the operators say, whenever a job or one of its children changed."""

import asyncio
from collections.abc import Mapping
from functools import partial

from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import ApiError, Json
from fairway.lab.kubesim.api.metadata import Deletion, rfc3339
from fairway.lab.kubesim.api.registry import ApiResource
from fairway.lab.kubesim.api.store import Event, Key, StoredObject
from fairway.lab.kubesim.operators.base import Operator, OperatorView, Reconciled, inherit


class Driver:
    def __init__(self, api: ClusterApi, operators: Mapping[str, Operator]) -> None:
        self._api = api
        self._operators = operators
        self._dirty: dict[Key, None] = {}
        self._kicked = False
        # A child's name that is still taken, and the job that waits for it to go.
        self._waiting: dict[Key, Key] = {}
        self._timers: dict[Key, asyncio.TimerHandle] = {}
        api.store.listen("", self._changed)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()

    def _changed(self, event: Event) -> None:
        key = event.new.key
        if key.storage in self._operators:
            if event.type == "DELETED":
                self._dirty.pop(key, None)
                self._forget_timer(key)
            else:
                self._touch(key)
        target = (event.new.obj.get("target"),) if event.new.obj["kind"] == "Command" else ()
        for owner in (*(event.new.obj["metadata"].get("ownerReferences") or ()), *target):
            resource = self._api.registry.of_kind(owner["apiVersion"], owner["kind"])
            if resource and resource.storage in self._operators:
                self._touch(Key(resource.storage, key.namespace, owner["name"]))
        if event.type == "DELETED" and key in self._waiting:
            self._touch(self._waiting.pop(key))

    def _touch(self, key: Key) -> None:
        self._dirty[key] = None
        if not self._kicked:
            self._kicked = True
            asyncio.get_running_loop().call_soon(self._drain)

    def _drain(self) -> None:
        self._kicked = False
        dirty = self._dirty
        self._dirty = {}
        for key in dirty:
            stored = self._api.store.get(key)
            resource = self._api.resource_of(stored) if stored else None
            if stored and resource and not stored.obj["metadata"].get("deletionTimestamp"):
                self._reconcile(resource, stored)

    def _reconcile(self, resource: ApiResource, stored: StoredObject) -> None:
        now = rfc3339(self._api.clock.now())
        loop_ms = int(asyncio.get_running_loop().time() * 1000)
        owned = (self._api.store.get(key) for key in self._api.store.owned_by(stored.obj["metadata"]["uid"]))
        children = tuple(one.obj for one in owned if one)
        view = OperatorView(stored.obj, children, now, loop_ms, partial(self._named, stored))
        try:
            outcome = self._operators[stored.key.storage](view)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            # The real CRD's schema would have refused it: it lies there, its operator logs errors.
            outcome = Reconciled(status={**view.status, "kubesimError": f"{type(error).__name__}: {error}"})
        self._carry_out(resource, stored, outcome)

    def _named(self, job: StoredObject, kind: str, name: str) -> Json | None:
        plain, _, version = kind.partition(".")
        resource = self._api.registry.of_kind(version or job.obj["apiVersion"], plain)
        namespace = job.key.namespace if resource and resource.namespaced else ""
        found = self._api.store.get(Key(resource.storage, namespace, name)) if resource else None
        return found.obj if found else None

    def _carry_out(self, resource: ApiResource, job: StoredObject, outcome: Reconciled) -> None:
        for child in outcome.delete:
            self._delete(child)
        for child in outcome.update:
            kind, found = self._find(child)
            if kind and found:
                self._api.update(kind, found, child)
        for child in outcome.create:
            self._create(job, child)
        current = self._api.store.get(job.key)
        if outcome.status is not None and current and outcome.status != (current.obj.get("status") or {}):
            part = "status" if resource.status else ""
            self._api.update(resource, current, {**current.obj, "status": outcome.status}, part)
        if outcome.again_ms:
            self._forget_timer(job.key)
            loop = asyncio.get_running_loop()
            self._timers[job.key] = loop.call_later(outcome.again_ms / 1000, self._touch, job.key)

    def _forget_timer(self, key: Key) -> None:
        timer = self._timers.pop(key, None)
        if timer:
            timer.cancel()

    def _find(self, child: Json) -> tuple[ApiResource | None, StoredObject | None]:
        kind = self._api.registry.of_kind(child["apiVersion"], child["kind"])
        if not kind:
            return None, None
        key = Key(kind.storage, child["metadata"].get("namespace", ""), child["metadata"]["name"])
        return kind, self._api.store.get(key)

    def _delete(self, child: Json) -> None:
        kind, found = self._find(child)
        if kind and found and found.obj["metadata"]["uid"] == child["metadata"]["uid"]:
            self._api.delete(kind, found, Deletion())

    def _create(self, job: StoredObject, child: Json) -> None:
        kind = self._api.registry.of_kind(child["apiVersion"], child["kind"])
        if not kind:
            return
        inherit(job.obj, child)
        child["metadata"]["namespace"] = job.key.namespace
        child["metadata"]["ownerReferences"] = [owner_reference(job.obj)]
        try:
            self._api.create(kind, job.key.namespace, child)
        except ApiError as error:
            if error.reason == "AlreadyExists":
                self._waiting[Key(kind.storage, job.key.namespace, child["metadata"]["name"])] = job.key


def owner_reference(owner: Json) -> Json:
    metadata = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
