"""The hub service as a test handles it: what was seen and said goes in, and what is said, written and acknowledged can
be looked at."""

import itertools
from collections.abc import Iterable
from typing import Any

import msgspec

from fairway.domain.held_object import HeldObject
from fairway.domain.tenancy.submission_limits import Limits
from fairway.hub import messages as local
from fairway.hub.messages import OfJobs
from fairway.hub.telling.bindings import DIGEST, change_of, stamps_of
from fairway.hub.telling.bindings import KIND as BINDING
from fairway.wire import jobs as wire
from fairway.wire.envelope import JobMessage
from fairway.wire.fleet import Shown
from fairway.workloads.hub.objects import WATCHED, HubObject
from fairway.workloads.kinds.registry import KINDS, referred_kinds
from fairway.workloads.schedules.registry import RUNS, SCHEDULES
from tests.spec.builders.hub_loop import HubLoop
from tests.spec.builders.lives import Life
from tests.spec.builders.scripted_hub import Json, Key


class HubDriver(HubLoop):
    """With `limits` of tenants; the hub has `served` ResourceBindings. A process has begun, and the hub was listed."""

    def __init__(self, limits: dict[str, Limits] | None = None, served: bool = True) -> None:
        super().__init__()
        self.limits = limits or {}
        self.served = served
        self._places = itertools.count(1)
        self.restart()

    def restart(self) -> None:
        """A process begins, and the hub is listed."""
        self.start()
        self.list_all()

    def start(self) -> None:
        catalog = self.record.catalog()
        catalog.limits = self.limits
        self.begin(catalog)

    def list_all(self) -> None:
        """The hub is told of as its watches tell it, from the beginning."""
        self.inbox.local(local.ComplaintsRead(self.record.complaints()))
        for kind in sorted(WATCHED):
            self.see([key for key in self.hub.objects if key[0] == kind])
            self.inbox.local(local.SettingsListed(kind))
        self.see([key for key in self.hub.objects if key[0] in referred_kinds()])
        if self.served:
            self._bindings()
        else:
            self.inbox.local(local.BindingsListed(served=False))
        for kinds in (SCHEDULES, KINDS):
            self.see([key for key in self.hub.objects if key[0] in kinds])
        for kind in sorted(RUNS):
            self.inbox.local(local.RunsListed(kind))
        self.inbox.local(local.ObjectsListed())
        self.run()

    def _bindings(self) -> None:
        for (kind, namespace, name), found in self.hub.objects.items():
            if kind == BINDING:
                meta = found["metadata"]
                owner = meta["ownerReferences"][0]["uid"]
                seen = (namespace, name, owner, meta["annotations"][DIGEST], stamps_of(found), change_of(found))
                self.inbox.local(local.BindingSeen(*seen))
        self.inbox.local(local.BindingsListed())

    # What happens.
    def apply(self, *objects: HubObject) -> None:
        for one in objects:
            self.hub.put(one.kind, one.manifest)
        self.see((one.kind, one.namespace, one.name) for one in objects)

    def delete(self, one: HubObject) -> None:
        found = self.hub.objects.pop((one.kind, one.namespace, one.name))
        self._show(one.kind, found, gone=True)

    def see(self, keys: Iterable[Key]) -> None:
        """The watch shows these as they are now."""
        for key in keys:
            self._show(key[0], self.hub.objects[key])

    def _show(self, kind: str, manifest: Json, gone: bool = False) -> None:
        self.inbox.local(_seen_as(kind)(kind, manifest, gone, next(self._places)))

    def show(self, one: HubObject, status: Json) -> None:
        """Somebody else writes the status of an object."""
        self.hub.show(one.kind, one.namespace, one.name, status)
        self.echo()

    def admit(self, one: HubObject, attempts: int = 3) -> Life:
        """The newest submission of the object is taken in."""
        return self.record.admitted(self.submissions(one)[-1], attempts)

    def refuse(self, one: HubObject, *reasons: wire.Reason, **fields: Any) -> Life:
        """The newest submission of the object is refused at the door."""
        said = self.submissions(one)[-1]
        life = Life(said.job)
        life.at = self.now
        head = {"tenant": said.tenant, "attempt": 1, "kind": one.plain, "api_version": one.api_version}
        more = {"name": one.name, "hub": said.hub, "manifest": self.record.ref(said), **fields}
        life.then(wire.Rejected, after=0, reasons=reasons, client=said.client, **head, **more)
        self.record.refused(said, life)
        self.hear(life.said[-1][1])
        return life

    def says(self, life: Life, kind: type[JobMessage], **fields: Any) -> str:
        """Something is said of a job; the id of the message."""
        life.at = self.now
        life.then(kind, after=0, **{"tenant": life.now.tenant, **fields})
        self.record.follow(life)
        return self.hear(life.said[-1][1])

    def hear(self, message: JobMessage | Shown) -> str:
        """A message of the record is delivered, if it is one that the service hears."""
        if not isinstance(message, OfJobs | Shown):
            return ""
        rev = message.rev if isinstance(message, JobMessage) else 0
        return self.inbox.deliver(f"{message.job}-{rev}" if rev else "", message)

    def member(self, life: Life, status: Json, version: str = "", **fields: Any) -> str:
        """The member's object shows this."""
        job = life.now
        told = {"job": job.id, "tenant": job.tenant, "attempt": job.attempt, "cluster": job.cluster, **fields}
        return self.hear(Shown(version=version, status=status, **told))

    def echo(self) -> None:
        changed = self.hub.changed
        self.hub.changed = []
        for gone in changed:
            if isinstance(gone, dict):
                self._show(f"{gone['kind']}.{gone['apiVersion']}", gone, gone=True)
        keys = dict.fromkeys(one for one in changed if isinstance(one, tuple))
        self.see(key for key in keys if key in self.hub.objects)

    # What can be looked at.
    def submissions(self, one: HubObject) -> list[wire.Submitted]:
        return [said for said in self.record.of(wire.Submitted) if said.hub and said.hub.uid == one.uid]

    def said(self, *kinds: type[Any]) -> list[Any]:
        return [message for kind in kinds for message in self.record.of(kind)]

    def held(self, one: HubObject) -> HeldObject | None:
        row = self.record.rows.get(("held", one.uid))
        return msgspec.json.decode(row.data, type=HeldObject) if row is not None else None

    def status(self, one: HubObject) -> Json:
        found: Json = self.hub.objects[one.kind, one.namespace, one.name].get("status") or {}
        return found

    def binding(self, one: HubObject) -> Json:
        return self.hub.objects[BINDING, one.namespace, f"{one.name}-{one.plain.lower()}"]

    def conditions(self, one: HubObject) -> dict[str, tuple[str, str]]:
        """Those of its binding: status and reason by type."""
        return {each["type"]: (each["status"], each["reason"]) for each in self.binding(one)["status"]["conditions"]}

    def events(self, one: HubObject) -> list[str]:
        """The reasons of the Events that were written about it."""
        return [reason for name, reason, _ in self.hub.notes if name == one.name]


def _seen_as(kind: str) -> type[local.SettingSeen | local.TemplateSeen | local.ScheduleSeen | local.ObjectSeen]:
    """The message in which a watch of this kind shows an object."""
    if kind in WATCHED:
        return local.SettingSeen
    if kind in SCHEDULES:
        return local.ScheduleSeen
    return local.TemplateSeen if kind in referred_kinds() else local.ObjectSeen
