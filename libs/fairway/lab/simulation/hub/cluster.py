"""The cluster where tenants apply their jobs: an API server without controllers. People write to it as with kubectl;
what they wrote last is remembered, for nobody else may write that."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from fairway.lab.kubesim.api import field_managers
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.builtin import EVERYTHING
from fairway.lab.kubesim.api.errors import ApiError
from fairway.lab.kubesim.api.metadata import Deletion, SimClock, Uids
from fairway.lab.kubesim.api.registry import Registry
from fairway.lab.kubesim.api.store import ObjectStore, StoredObject
from fairway.lab.kubesim.cluster_port import KubesimCluster
from fairway.lab.simulation.members.pods import EVERY
from fairway.lab.simulation.process import SimulatedProcess

Json = dict[str, Any]
EVENT = "Event.v1"
BINDING = "ResourceBinding.work.karmada.io/v1alpha2"
_KUBECTL = "kubectl-client-side-apply"


class WantedObject(Struct):
    """What its owner wants of one object of a job kind. `edited` is when that last changed and `gone` when it was
    deleted, in ms (0: it is there). The status of one `by_hand` is its owner's own work."""

    kind: str
    namespace: str
    name: str
    uid: str
    manifest: Json
    edited: int
    gone: int = 0
    by_hand: bool = False


class HubWriter(Struct):
    """Whose write is being carried out just now, and when (s) its process set out to make it."""

    process: SimulatedProcess | None = None
    asked: float = 0.0


class SimulatedHub(KubesimCluster):
    """`wanted` by uid; `writer` is who of Fairway's writes. `away`, nothing of Fairway's reaches it; people do."""

    def __init__(self, clock: SimClock) -> None:
        api = ClusterApi(ObjectStore(history=0), Registry(EVERYTHING), clock, Uids("simulation/hub"))
        super().__init__("hub", api, EVERY)
        self.lost = 0
        self.away_since: list[tuple[int, int]] = []
        self.wanted: dict[str, WantedObject] = {}
        self.writer = HubWriter()

    def objects(self) -> Iterable[StoredObject]:
        """Those of job kinds."""
        return (one for kind in EVERY for one in self.every(kind))

    def put(self, kind: str, manifest: Json) -> StoredObject | None:
        """Somebody creates an object; None when it is refused."""
        resource = self.resource(kind)
        body = msgspec.json.decode(msgspec.json.encode(manifest))
        body |= {"apiVersion": resource.api_version, "kind": resource.kind}
        signed = field_managers.signed(_KUBECTL, body, self.api.clock.now())
        where = manifest["metadata"].get("namespace", "") if resource.namespaced else ""
        try:
            made = self.api.create(resource, where, signed)
        except ApiError:
            return None
        if kind in EVERY:
            self.remember(kind, made)
        return made

    def edit(self, kind: str, found: StoredObject, change: Callable[[Json], Json], part: str = "") -> bool:
        """Somebody writes to the object as it is now; False when it is refused, or gone."""
        now = self.api.store.get(found.key)
        if now is None or now.obj["metadata"]["uid"] != found.obj["metadata"]["uid"]:
            return False
        body = change(now.copy())
        signed = body if part else field_managers.rewritten(_KUBECTL, now.obj, body, self.api.clock.now())
        try:
            made = self.api.update(self.resource(kind), now, signed, part)
        except ApiError:
            return False
        known = self.wanted.get(found.obj["metadata"]["uid"])
        if known is not None and part:
            known.by_hand = True
        elif known is not None:
            self.remember(kind, made)
        return True

    def remove(self, found: StoredObject) -> None:
        """Somebody deletes it; finalizers may keep it for a while."""
        if not self.there(found):
            return
        now = self.api.store.get(found.key)
        resource = self.api.resource_of(found)
        assert now is not None and resource is not None, "it is there"
        self.api.delete(resource, now, Deletion())
        known = self.wanted.get(found.obj["metadata"]["uid"])
        if known is not None and not known.gone:
            known.gone = self.api.clock.now()

    def remember(self, kind: str, made: StoredObject) -> None:
        """What its owner wants is what it says now."""
        uid = made.obj["metadata"]["uid"]
        before = self.wanted.get(uid)
        self.wanted[uid] = WantedObject(
            kind,
            made.key.namespace,
            made.key.name,
            uid,
            said(made.obj),
            self.api.clock.now(),
            before.gone if before else 0,
            before.by_hand if before else False,
        )


def said(manifest: Json) -> Json:
    """What of an object is its owner's: its spec, labels, annotations and owners."""
    meta = manifest["metadata"]
    ours = {name: meta.get(name) or {} for name in ("labels", "annotations")}
    return {"spec": manifest.get("spec"), **ours, "finalizers": meta.get("finalizers") or []}


def uid_of(found: StoredObject) -> str:
    return str(found.obj["metadata"]["uid"])


def leaving(found: StoredObject) -> bool:
    return "deletionTimestamp" in found.obj["metadata"]
