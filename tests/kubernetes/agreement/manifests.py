"""A case as objects of Kubernetes: its nodes, the pods that are on them, its gang as a job and as a scheduler's pods.

Each scheduler has nodes of its own for each case. A label and a taint with the name of the place keep everybody else's
pods away from them.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from fairway.wire.capacity import Slot
from tests.kubernetes.agreement.cases import Case, DrawnNode
from tests.kubernetes.agreement.pod_specs import quantities

Json = dict[str, Any]

PLACE = "fairway.test/place"
# On all that a round made, to delete it by.
ROUND = "fairway.test/round"
# A pod of this cluster never gets beyond Pending on its node, which saves kwok a write for each.
_NEVER = "fairway.test/never-start-in-cluster"
_ENDED = "fairway.test/ended"
_AWAY = "fairway.test/status"
CLUSTER = "agreement"
# As a propagator makes gangs of pods. Without it koord-scheduler 1.6 now and then looks at the last of a gang before it
# has counted it, and then at none of them again. It is taken away when all are there.
GATE = "fairway.io/gang"
VOLCANO_GROUP = "PodGroup.scheduling.volcano.sh/v1beta1"

SCHEDULERS = {"kube-scheduler": "default-scheduler", "volcano": "volcano", "koordinator": "koord-scheduler"}


class Place(Struct, frozen=True):
    """A case on the nodes that one scheduler has for it. `scheduler` as in SCHEDULERS; it is the namespace, too."""

    case: Case
    scheduler: str

    @property
    def name(self) -> str:
        return f"{self.scheduler[:4]}-{self.case.name}"

    def node(self, index: int) -> str:
        return f"{self.name}-{index}"

    def nodes(self) -> Iterator[Json]:
        for index, one in enumerate(self.case.nodes):
            yield _node(self.name, self.node(index), one)

    def others(self) -> Iterator[Json]:
        """Pods that were there before, whoever placed them. They tolerate every taint, or would be evicted. What asks
        for more than its node has is not there for Volcano 1.10, which takes no pod at all on such a node."""
        for index, node in enumerate(self.case.nodes):
            for number, spec in enumerate(node.within if self.scheduler == "volcano" else node.others):
                bound = {**spec, "nodeName": self.node(index), "tolerations": [{"operator": "Exists"}]}
                notes = {_ENDED: "yes"} if number < node.ended else {}
                yield self._pod(f"{self.node(index)}-other-{number}", bound, notes, "others")

    def job(self) -> Json:
        """The gang as a job that Fairway reads: a Job of Volcano, whose tasks are pod sets."""
        tasks = [
            {"name": one.name, "replicas": one.count, "template": {"spec": self._spec(one.spec)}}
            for one in self.case.gang
        ]
        meta = {"name": self.name, "namespace": self.scheduler}
        return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": meta, "spec": {"tasks": tasks}}

    def free(self) -> list[Json]:
        """The gang's pods as their scheduler likes to place them."""
        return [
            self._member("free", f"{one.name}-{number}", one.name, self._spec(one.spec))
            for one in self.case.gang
            for number in range(one.count)
        ]

    def planned(self, slots: tuple[Slot, ...]) -> list[Json]:
        """The gang's pods, each on the node that a plan has for it, as what holds room for it is."""
        specs = {one.name: one.spec for one in self.case.gang}
        where = [(slot.pods, slot.node) for slot in slots for _ in range(slot.count)]
        return [
            self._member("planned", f"planned-{number}", "", _pinned(self._spec(specs[pods]), node))
            for number, (pods, node) in enumerate(where)
        ]

    def group(self, round: str) -> Json | None:
        """The object that makes a gang of a round's pods, where there has to be one."""
        if self.scheduler != "volcano":
            return None
        meta = {"name": f"{self.name}-{round}", "namespace": self.scheduler, "labels": {ROUND: round}}
        return {"metadata": meta, "spec": {"minMember": self.case.pods, "queue": "default"}}

    def _spec(self, drawn: Json) -> Json:
        """For the nodes of this place alone."""
        spec: Json = json.loads(json.dumps(drawn))
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), PLACE: self.name}
        here = {"key": PLACE, "operator": "Equal", "value": self.name, "effect": "NoSchedule"}
        spec["tolerations"] = [*spec.get("tolerations", ()), here]
        for term in _terms(spec):
            for field in term.get("matchFields", ()):
                field["values"] = [self.node(index) for index in field["values"]]
        return spec

    def _member(self, round: str, name: str, pod_set: str, spec: Json) -> Json:
        notes: dict[str, str] = {}
        gang = f"{self.name}-{round}"
        if self.scheduler == "volcano":
            # To Volcano pods of one task are equal: what refuses one is not asked about the next.
            notes |= {"scheduling.k8s.io/group-name": gang, **({"volcano.sh/task-spec": pod_set} if pod_set else {})}
        elif self.scheduler == "koordinator":
            marks = {"name": gang, "min-available": str(self.case.pods)}
            notes |= {f"gang.scheduling.koordinator.sh/{key}": text for key, text in marks.items()}
            spec = {**spec, "schedulingGates": [{"name": GATE}]}
        bound = {**spec, "schedulerName": SCHEDULERS[self.scheduler]}
        return self._pod(f"{self.name}-{name}", bound, notes, round)

    def _pod(self, name: str, spec: Json, notes: Mapping[str, str], round: str) -> Json:
        labels = {PLACE: self.name, ROUND: round}
        meta = {"name": name, "namespace": self.scheduler, "labels": labels, "annotations": {_NEVER: CLUSTER, **notes}}
        return {"metadata": meta, "spec": {**spec, "automountServiceAccountToken": False}}


def gated(pod: Json) -> bool:
    return bool(pod["spec"].get("schedulingGates"))


def ended(pod: Json) -> bool:
    """Whether it is to be one that has ended."""
    return _ENDED in pod["metadata"]["annotations"]


def _node(place: str, name: str, drawn: DrawnNode) -> Json:
    amounts = quantities(drawn.amounts)
    keeps_out = {"key": PLACE, "value": place, "effect": "NoSchedule"}
    spec: Json = {"taints": [keeps_out, *drawn.taints], **({"unschedulable": True} if drawn.cordoned else {})}
    notes = {_AWAY: "kept"} if drawn.away else {}
    away = [{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "said by hand"}]
    meta = {"name": name, "labels": {**drawn.labels, PLACE: place, ROUND: "nodes"}, "annotations": notes}
    status = {"allocatable": amounts, "capacity": amounts, **({"conditions": away} if drawn.away else {})}
    return {"metadata": meta, "spec": spec, "status": status}


def _terms(spec: Json) -> list[Json]:
    node_affinity = spec.get("affinity", {}).get("nodeAffinity", {})
    required = node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    terms: list[Json] = required.get("nodeSelectorTerms", [])
    return terms


def _names(field: Json, node: str) -> bool:
    return bool((node in field["values"]) == (field["operator"] == "In"))


def _pinned(spec: Json, node: str) -> Json:
    """Every term of its affinity narrowed to that node, without those that name others, as held_room.py does it."""
    terms = [one for one in _terms(spec) if all(_names(field, node) for field in one.get("matchFields", ()))] or [{}]
    for term in terms:
        here = {"key": "metadata.name", "operator": "In", "values": [node]}
        term["matchFields"] = [*term.get("matchFields", ()), here]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {**spec, "affinity": {"nodeAffinity": required}}
