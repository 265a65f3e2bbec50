"""What the hub says about the fleet: policies, priority classes, the quota tree, queues, clusters by name.

Every process follows the CONFIG stream, where the newest word on each object is kept. Only good ones are there: the
gateway refuses the others at the door, so that the last good one stays in force over every restart.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import structlog

from fairway.domain.policy_terms import Changed
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.profile import Profile, Tenancy, tenancy
from fairway.domain.tenancy.submission_limits import Limits, limits
from fairway.domain.text.decoding import decoder
from fairway.runtime.ports import Bus, Clock, Delivery, Unreachable
from fairway.runtime.views.members import Facts
from fairway.wire import fleet, subjects
from fairway.wire.policy import Policy
from fairway.wire.reasons import Refused
from fairway.workloads.settings.policies import CLUSTER_WIDE, NAMESPACED, read_policy
from fairway.workloads.settings.policy_index import PolicyBook
from fairway.workloads.settings.policy_limits import Together, size_of
from fairway.workloads.settings.queues import read_queue
from fairway.workloads.settings.quota_trees import read_quota_tree
from fairway.workloads.settings.tenant_profiles import read_tenant_profile

log = structlog.get_logger()
# Namespaces whose tenancy is kept at hand; anybody may write a name into a message.
_TENANCIES = 10_000
_decode = decoder(fleet.Message)
_decode_manifest = decoder(dict[str, Any] | None)


def setting(said: Delivery) -> tuple[fleet.Configured, dict[str, Any] | None] | None:
    """What a message of CONFIG sets, and its manifest, None for what was withdrawn. None for what sets nothing: who may
    publish on one subject may write anything there, and the catalog says so in the log."""
    try:
        message = _decode(said.data)
        if not isinstance(message, fleet.Configured) or said.subject != _place_of(message):
            return None
        return message, None if message.manifest is None else _decode_manifest(message.manifest)
    except msgspec.DecodeError:
        return None


def complaint(said: Delivery) -> tuple[str, str, str] | None:
    """Kind, namespace and name of the object that this message of CONFIG says was refused, and is so still."""
    try:
        refused = _decode(said.data)
    except msgspec.DecodeError:
        return None
    if not isinstance(refused, fleet.ConfigRefused) or not refused.reasons:
        return None
    return refused.kind, refused.namespace, refused.name


def _place_of(message: fleet.Configured) -> str:
    return subjects.config(message.kind, message.namespace, message.name)


class Catalog:
    """`known` is set once the past has been read. `heard` are called with each later change. `left` are the clusters
    that were members and are none any more; `facts` is the hub's word on a cluster, whatever its own agent says of it;
    `limits` of tenants stand in the tree. `namespaces` has the labels of those of the hub that say something of the
    safety of pods; those that are `reserved` are a setting of the process."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self.reserved = frozenset(reserved)
        self._tenancies: dict[str, Tenancy] = {}
        self.policies, self.together = PolicyBook(), Together()
        self.by_title: dict[str, Policy] = {}
        self.classes: dict[str, int] = {}
        self.default_class = ""
        self.tree: QuotaNode | None = None
        self.limits: dict[str, Limits] = {}
        self.queues: dict[str, QueueSpec] = {}
        self.profiles: dict[str, Profile] = {}
        self.namespaces: dict[str, dict[str, str]] = {}
        self.clusters: dict[str, dict[str, str]] = {}
        self.facts: dict[str, Facts] = {}
        self.left: set[str] = set()
        self._introduced: dict[str, dict[str, str] | None] = {}
        self._withdrawn: set[str] = set()
        self.known = asyncio.Event()
        self.heard: list[Callable[[Changed], None]] = []

    async def run(self, bus: Bus, clock: Clock) -> None:
        """Follows for ever; starts over whenever the bus was away."""
        while True:
            try:
                await self._follow(bus)
            except (Unreachable, OSError, TimeoutError) as error:
                log.warning("waiting", service="catalog", cause=str(error))
            await clock.sleep(0.25)

    async def _follow(self, bus: Bus) -> None:
        async for delivery in bus.history("CONFIG", live=True, last=True):
            if not delivery.subject:
                self.known.set()
                continue
            changed = self._read(delivery)
            if changed is not None and self.known.is_set():
                for tell in self.heard:
                    tell(changed)

    def _read(self, delivery: Delivery) -> Changed | None:
        """What was taken; None when nothing was. One message that is wrong, whatever is wrong
        with it, must end no service: the newest word on each object is read again at every start."""
        try:
            message = _decode(delivery.data)
            if not isinstance(message, fleet.Configured):
                return None
            if delivery.subject != _place_of(message):
                log.error("configuration said in a wrong place", subject=delivery.subject, kind=message.kind)
                return None
            self.take(message)
        except Exception as error:
            log.error("configuration not understood", subject=delivery.subject, cause=repr(error))
            return None
        return Changed(kind=message.kind, policy=_title(message))

    def take(self, said: fleet.Configured) -> None:
        """Takes an object over; one that does not read is passed over with a word in the log."""
        manifest = _decode_manifest(said.manifest) if said.manifest is not None else None
        try:
            self._take(said, manifest)
        except Refused as error:
            log.error("configuration not understood", kind=said.kind, name=said.name, cause=str(error))

    def _take(self, said: fleet.Configured, manifest: dict[str, Any] | None) -> None:
        match said.kind:
            case kind if kind in (NAMESPACED, CLUSTER_WIDE):
                self._policy(said, manifest)
            case "PriorityClass":
                self._priority_class(said.name, manifest)
            case "ElasticQuotaTree":
                self.tree = read_quota_tree(manifest) if manifest else None
                self.limits = limits(self.tree)
            case "Queue":
                self.queues.pop(said.name, None)
                if manifest is not None:
                    self.queues[said.name] = read_queue(manifest)
            case "TenantProfile":
                self._profile(said.name, manifest)
            case "Namespace":
                self._tenancies.clear()
                self.namespaces.pop(said.name, None)
                if manifest is not None:
                    self.namespaces[said.name] = (manifest.get("metadata") or {}).get("labels") or {}
            case "Cluster":
                self._introduced[said.name] = None if manifest is None else manifest.get("labels") or {}
                self._member(said.name)
            case "Member":
                if manifest is None:
                    self.facts.pop(said.name, None)
                    self._withdrawn.add(said.name)
                else:
                    self.facts[said.name] = msgspec.convert(manifest, Facts)
                    self._withdrawn.discard(said.name)
                self._member(said.name)

    def _member(self, name: str) -> None:
        """Who is a member is the hub's to say. An agent's own word counts only where the hub never spoke: its account
        on the bus may outlive its cluster's membership, and one that leaves and comes back would begin anew."""
        said = self.facts.get(name)
        labels = said.labels if said else None if name in self._withdrawn else self._introduced.get(name)
        if labels is None:
            self.clusters.pop(name, None)
            self.left.add(name)
        else:
            self.clusters[name] = labels
            self.left.discard(name)

    def tenancy(self, namespace: str) -> Tenancy:
        """What the jobs of a namespace of the hub may ask for."""
        known = self._tenancies.get(namespace)
        if known is None:
            if len(self._tenancies) >= _TENANCIES:
                self._tenancies.clear()
            known = tenancy(namespace, self.namespaces.get(namespace, {}), self.profiles.values())
            self._tenancies[namespace] = known
        return known

    def _policy(self, said: fleet.Configured, manifest: dict[str, Any] | None) -> None:
        key = (said.kind, said.namespace, said.name)
        if manifest is None:
            self.policies.drop(key)
            self.together.drop(key)
            self.by_title.pop(_title(said), None)
        else:
            policy = self.by_title[_title(said)] = read_policy(manifest)
            self.policies.put(policy)
            self.together.put(key, size_of(manifest))

    def _profile(self, name: str, manifest: dict[str, Any] | None) -> None:
        """One that does not read leaves the last good one in force: without it, what it bounds would be free."""
        if manifest is not None:
            self.profiles[name] = read_tenant_profile(manifest)
        else:
            self.profiles.pop(name, None)
        self._tenancies.clear()

    def _priority_class(self, name: str, manifest: dict[str, Any] | None) -> None:
        self.classes.pop(name, None)
        if name == self.default_class:
            self.default_class = ""
        if manifest is not None:
            self.classes[name] = int(manifest.get("value", 0))
            if manifest.get("globalDefault"):
                self.default_class = name


def _title(said: fleet.Configured) -> str:
    """Of a policy as `Policy.title` has it; empty for other kinds."""
    if said.kind not in (NAMESPACED, CLUSTER_WIDE):
        return ""
    return f"{said.kind} {said.namespace}/{said.name}" if said.namespace else f"{said.kind} {said.name}"
