"""Which settings of the hub are in force, which were refused, and which are kept out by another one. A part of the
memory: it changes with what a watch shows, and with what was said."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct, structs

from fairway.domain.decision import Say
from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES, SystemNamespaces, reserved_reason
from fairway.hub.intake.waiting_objects import WaitingObjects
from fairway.wire import fleet
from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason
from fairway.workloads.hub.objects import (
    QUEUE,
    WATCHED,
    HubObject,
    Key,
    cleaned,
    hub_object,
    place_of,
)
from fairway.workloads.settings.policies import is_policy

# A kind with its group, and the key of an object of it: two groups have kinds of one name.
Full = tuple[str, Key]


class InForce(Struct, frozen=True):
    """What the record says of one object: its kind with group, the digest of its manifest, and its version then: what
    changes with every write to its status must not make another submission of the same wish."""

    kind: str
    digest: str
    version: str = ""


def _version(manifest: dict[str, Any]) -> str:
    return str((manifest.get("metadata") or {}).get("resourceVersion") or "")


class RefusedSetting(Struct, frozen=True):
    """The wish that was refused, by its digest, and why; `told` once its owner was."""

    digest: str
    reasons: tuple[Reason, ...]
    told: bool = False


class SettingsInForce:
    """`holders` has who is in force where there can be only one; `aside` whom it keeps out, until it goes; `complaints`
    are those that the record says are refused. `newest` is the place of what a watch showed last of each object.
    `changed_at` is when a priority class, the tree or a queue last came or changed (ms). `spoke` has what
    was written of whom, by uid, and the kinds that have no conditions."""

    def __init__(self, room: WaitingObjects, namespaces: SystemNamespaces = SYSTEM_NAMESPACES) -> None:
        self.room = room
        self.namespaces = namespaces
        self.in_force: dict[Key, InForce] = {}
        self.holders: dict[Key, Key] = {}
        self.aside: dict[Key, dict[Full, HubObject]] = {}
        self.refused: dict[Full, RefusedSetting] = {}
        self.complaints: set[Key] = set()
        self.newest: dict[Full, int] = {}
        self.spoke: dict[str, str] = {}
        self.changed_at = 0

    def recall(self, said: Iterable[fleet.Configured]) -> None:
        """What the record holds, so that a restart says nothing twice and notices what was deleted meanwhile."""
        for one in said:
            manifest = msgspec.json.decode(one.manifest, type=dict[str, Any] | None)
            kind = f"{one.kind}.{(manifest or {}).get('apiVersion', '')}"
            if manifest is not None and kind in WATCHED:
                key = (one.kind, one.namespace, one.name)
                self.in_force[key] = InForce(kind, hub_object(kind, manifest).digest, _version(manifest))
                self.holders[place_of(key)] = key
                if is_policy(manifest):
                    self.room.recall(key, manifest)

    # What a job's object needs to know.
    def has(self, kind: str, name: str) -> bool:
        """Whether there is a good PriorityClass or Queue of that name."""
        return (kind, "", name) in self.holders

    def lacking(self, one: HubObject) -> tuple[tuple[str, str], Reason] | None:
        """The first setting that a job's object names and that is not there, and the reason to wait for it; or the
        namespace that it is in, where no job may be."""
        if self.foreign(one):
            return (("Namespace", one.namespace), reserved_reason(one.namespace))
        for kind, name in one.settings:
            if not self.has(kind, name):
                code = Code.UNKNOWN_QUEUE if kind == QUEUE else Code.UNKNOWN_PRIORITY_CLASS
                remedy = f"create the {kind}, or name another one or none"
                return (kind, name), Reason(code, f"the hub has no {kind} {name}", remedy=remedy)
        return None

    def foreign(self, one: HubObject) -> bool:
        """It is where no tenant's job may be: what no policy selects there is nothing of Fairway's."""
        return self.namespaces.takes_no_job(one.namespace)

    # What changes it.
    def see(self, one: HubObject, place: int) -> list[HubObject]:
        """Returns as `taken` does: a policy of the record goes along with jobs once the hub has shown it."""
        full = (one.kind, one.key)
        if place < self.newest.get(full, 0):
            return []
        self.newest[full] = place
        if full in (kept_out := self.aside.get(place_of(one.key), {})):
            kept_out[full] = one
        known = self.in_force.get(one.key)
        same = known is not None and (known.kind, known.digest) == (one.kind, one.digest)
        return self.taken(one) if same and is_policy(one.manifest) and one.key not in self.room.manifests else []

    def gone(self, one: HubObject) -> None:
        """From the hub. That it was withdrawn is another thing, and is said."""
        full = (one.kind, one.key)
        self.newest.pop(full, None)
        self.refused.pop(full, None)
        self.aside.get(place_of(one.key), {}).pop(full, None)
        self.spoke.pop(one.uid, None)

    def announced(self, one: HubObject) -> None:
        """Its owner was told that it is refused."""
        if (known := self.refused.get((one.kind, one.key))) is not None:
            self.refused[one.kind, one.key] = structs.replace(known, told=True)

    def said(self, say: Say, looked: HubObject | None, now: int) -> None:
        """What follows from a word of it; `looked` is the object that it is about, where one was looked at."""
        match say.message:
            case fleet.ConfigRefused(reasons=reasons) if looked is not None:
                full = (looked.kind, looked.key)
                if reasons:
                    self.refused[full] = RefusedSetting(looked.digest, reasons)
                    if reasons[0].code is Code.ANOTHER_IN_FORCE:
                        self.aside.setdefault(place_of(looked.key), {})[full] = looked
                else:
                    self.refused.pop(full, None)
                    self.complaints.discard(looked.key)
            case fleet.Configured() as message:
                self._configured(message, looked, now)

    def _configured(self, message: fleet.Configured, looked: HubObject | None, now: int) -> None:
        key = (message.kind, message.namespace, message.name)
        if looked is None or looked.key != key or bytes(message.manifest) == b"null":
            self.in_force.pop(key, None)
            if self.holders.get(place_of(key)) == key:
                del self.holders[place_of(key)]
            self.room.drop(key)
            return
        self.in_force[key] = InForce(looked.kind, looked.digest, _version(looked.manifest))
        self.holders[place_of(key)] = key
        self.aside.get(place_of(key), {}).pop((looked.kind, key), None)
        self.refused.pop((looked.kind, key), None)
        if not is_policy(looked.manifest):
            self.changed_at = now

    def taken(self, one: HubObject) -> list[HubObject]:
        """It is in force: the jobs that waited for it, which are then no longer waiting."""
        if isinstance(policy := one.understood[0], Policy):
            # With its version, which the record keeps of what goes along with a job.
            return self.room.put(policy, self._as_said(one))
        return self.room.came(one.plain, one.name)

    def _as_said(self, one: HubObject) -> dict[str, Any]:
        manifest = cleaned(one.manifest, keep_version=True)
        known = self.in_force.get(one.key)
        if known is None or known.digest != one.digest or not known.version:
            return manifest
        return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": known.version}}

    def unseen(self, kind: str) -> list[Key]:
        """Those in force of a kind that the hub, asked for all of them, has not shown."""
        return sorted(key for key, one in self.in_force.items() if one.kind == kind and (kind, key) not in self.newest)
