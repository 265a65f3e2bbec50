"""What the hub says about the fleet: policies, priority classes, the quota tree, queues, clusters by name.

Every process follows the CONFIG stream, where the newest word on each object is kept. Only good ones are there: the
gateway refuses the others at the door, so that the last good one stays in force over every restart.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable
from typing import Any

import msgspec
import structlog

from fairway.domain.policy_terms import Changed
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.profile import Tenancy
from fairway.domain.tenancy.submission_limits import Limits, limits
from fairway.domain.text.decoding import decoder
from fairway.runtime.ports import Bus, Clock, Delivery, Unreachable
from fairway.runtime.retry import SeldomLog
from fairway.runtime.views.membership import Membership
from fairway.runtime.views.tenancies import Tenancies
from fairway.wire import fleet, subjects
from fairway.wire.reasons import Refused
from fairway.workloads.settings import volcano_queues
from fairway.workloads.settings.policies import CLUSTER_WIDE, NAMESPACED
from fairway.workloads.settings.policy_index import PoliciesInForce
from fairway.workloads.settings.priority_classes import PriorityClasses
from fairway.workloads.settings.queues import read_queue
from fairway.workloads.settings.quota_trees import read_quota_tree

log = structlog.get_logger()
# None: the object was withdrawn.
_Manifest = dict[str, Any] | None
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


class TakenSettings:
    """The newest good word on each object, in the order in which they were said. `followers` are called with every one,
    `heard` with a mark of each after the past."""

    def __init__(self) -> None:
        self.heard: list[Callable[[Changed], None]] = []
        self.followers: list[Callable[[fleet.Configured], None]] = []
        self._objects: dict[tuple[str, str, str], fleet.Configured] = {}

    def put(self, said: fleet.Configured) -> None:
        key = (said.kind, said.namespace, said.name)
        self._objects.pop(key, None)
        self._objects[key] = said
        for follow in self.followers:
            follow(said)

    def of(self, kinds: Collection[str]) -> list[fleet.Configured]:
        return [said for said in self._objects.values() if said.kind in kinds]


class Catalog:
    """`known` is set once the past has been read. `taken` are the words that made it what it is. `limits` of tenants
    stand in the tree. Namespaces that are `reserved` are a setting of the process."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self.reserved = frozenset(reserved)
        self.tenancies = Tenancies()
        self.members = Membership()
        self.policies = PoliciesInForce()
        self.classes = PriorityClasses()
        self.tree: QuotaNode | None = None
        self.limits: dict[str, Limits] = {}
        self.queues: dict[str, QueueSpec] = {}
        self.known = asyncio.Event()
        self.taken = TakenSettings()

    @property
    def heard(self) -> list[Callable[[Changed], None]]:
        """Called with each change once the past is known."""
        return self.taken.heard

    async def run(self, bus: Bus, clock: Clock) -> None:
        """Follows for ever; starts over whenever the bus was away."""
        lines = SeldomLog()
        while True:
            try:
                await self._follow(bus)
            except (Unreachable, OSError, TimeoutError) as error:
                lines.waits("catalog", error)
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
            if take := _TAKES.get(said.kind):
                take(self, said, manifest)
        except Refused as error:
            log.error("configuration not understood", kind=said.kind, name=said.name, cause=str(error))
            return
        self.taken.put(said)

    def tenancy(self, namespace: str) -> Tenancy:
        """What the jobs of a namespace of the hub may ask for."""
        return self.tenancies.of(namespace)

    def _tree(self, manifest: _Manifest) -> None:
        self.tree = read_quota_tree(manifest, in_force=True) if manifest else None
        self.limits = limits(self.tree)

    def _queue(self, name: str, manifest: _Manifest) -> None:
        self.queues.pop(name, None)
        if manifest is not None:
            of_volcano = manifest.get("apiVersion") == volcano_queues.API_VERSION
            queue = (volcano_queues.read_volcano_queue if of_volcano else read_queue)(manifest)
            self.queues[name] = self.classes.ranked(queue)

    def _class(self, name: str, manifest: _Manifest) -> None:
        """Queues of this class, which may have come before it, follow."""
        self.classes.take(name, manifest)
        self.queues |= {one: self.classes.ranked(queue) for one, queue in self.queues.items()}


def _take_policy(to: Catalog, said: fleet.Configured, manifest: _Manifest) -> None:
    to.policies.take(_title(said), (said.kind, said.namespace, said.name), manifest)


_TAKES: dict[str, Callable[[Catalog, fleet.Configured, _Manifest], None]] = {
    NAMESPACED: _take_policy,
    CLUSTER_WIDE: _take_policy,
    "PriorityClass": lambda to, said, manifest: to._class(said.name, manifest),
    "ElasticQuotaTree": lambda to, said, manifest: to._tree(manifest),
    "Queue": lambda to, said, manifest: to._queue(said.name, manifest),
    "TenantProfile": lambda to, said, manifest: to.tenancies.profile(said.name, manifest),
    "Namespace": lambda to, said, manifest: to.tenancies.namespace(said.name, manifest),
    "Cluster": lambda to, said, manifest: to.members.introduce(said.name, manifest),
    "Member": lambda to, said, manifest: to.members.tell(said.name, manifest),
}


def _title(said: fleet.Configured) -> str:
    """Of a policy as `Policy.title` has it; empty for other kinds."""
    if said.kind not in (NAMESPACED, CLUSTER_WIDE):
        return ""
    return f"{said.kind} {said.namespace}/{said.name}" if said.namespace else f"{said.kind} {said.name}"
