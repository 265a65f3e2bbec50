"""The settings of the hub, and whether those are in force."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES
from fairway.domain.text.decoding import decoder
from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.invariants.at_the_end import Found
from fairway.wire import fleet as wire
from fairway.wire.policy import Policy
from fairway.wire.reasons import Refused
from fairway.workloads.settings.policies import read_policy
from fairway.workloads.settings.policy_index import selects
from fairway.workloads.settings.priority_classes import read_priority_class
from fairway.workloads.settings.queues import queue_of, read_queue
from fairway.workloads.settings.quota_trees import read_quota_tree

Json = dict[str, Any]
Key = tuple[str, str, str]
_heard = decoder(wire.Message)
_KARMADA = "policy.karmada.io/v1alpha1"
_READ: Mapping[str, Callable[[Json], object]] = {
    f"PropagationPolicy.{_KARMADA}": read_policy,
    f"ClusterPropagationPolicy.{_KARMADA}": read_policy,
    "PriorityClass.scheduling.k8s.io/v1": read_priority_class,
    "ElasticQuotaTree.scheduling.sigs.k8s.io/v1beta1": read_quota_tree,
    "Queue.scheduling.x-k8s.io/v1alpha1": read_queue,
}
_ADMIN = ("ElasticQuotaTree", "Queue")
_WISH = ("spec", "value")


class SettingsOnHub:
    """`good` are those that can be in force, by kind, namespace and name; `there` all of them."""

    def __init__(self, hub: SimulatedHub) -> None:
        self.good: dict[Key, Json] = {}
        self.there: set[Key] = set()
        self._policies: list[Policy] = []
        for kind, read in _READ.items():
            for one in hub.every(kind):
                self._take(kind.partition(".")[0], one, read)

    def _take(self, kind: str, one: StoredObject, read: Callable[[Json], object]) -> None:
        key = (kind, one.key.namespace, one.key.name)
        self.there.add(key)
        if kind in _ADMIN and one.key.namespace not in SYSTEM_NAMESPACES.admin:
            return
        try:
            understood = read(one.obj)
        except Refused:
            return
        self.good[key] = one.obj
        if isinstance(understood, Policy):
            self._policies.append(understood)

    def selected(self, one: StoredObject) -> bool:
        return any(selects(policy, one.obj) for policy in self._policies)

    def reserved(self, one: StoredObject) -> bool:
        return SYSTEM_NAMESPACES.takes_no_job(one.key.namespace)

    def missing(self, one: StoredObject) -> bool:
        """Whether the object names a queue or a class that is not there."""
        queue = queue_of(one.obj)
        names = {name for kind, _, name in self.good if kind == "Queue"}
        classes = {name for kind, _, name in self.good if kind == "PriorityClass"}
        return bool(queue and queue not in names) or bool(_classes(one.obj.get("spec")) - classes)


def _classes(spec: Any) -> set[str]:
    if isinstance(spec, dict):
        own = {spec["priorityClassName"]} if isinstance(spec.get("priorityClassName"), str) else set[str]()
        return own.union(*(_classes(one) for one in spec.values()))
    return set()


def unlike(fleet: SimulatedFleet, settings: SettingsOnHub) -> Found:
    """What is in force is what the hub's good objects say; of one that is bad now, what it said before may be."""
    said: dict[Key, Json | None] = {}
    kinds = {kind.partition(".")[0] for kind in _READ}
    for one in fleet.bus.stored("CONFIG"):
        message = _heard(one.data)
        if isinstance(message, wire.Configured) and message.kind in kinds:
            said[message.kind, message.namespace, message.name] = msgspec.json.decode(message.manifest)
    for key, manifest in sorted(settings.good.items()):
        there = said.get(key)
        if there is None:
            yield "hub settings", "", f"{key} is not in force"
        elif [there.get(name) for name in _WISH] != [manifest.get(name) for name in _WISH]:
            yield "hub settings", "", f"{key} is in force as it was once: {there}"
    for key in sorted(key for key, manifest in said.items() if manifest is not None):
        if key not in settings.there:
            yield "hub settings", "", f"{key} is in force, and is not there any more"
