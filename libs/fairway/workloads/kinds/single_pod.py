"""Pod of v1: one that no controller owns is a job of one pod.

In a member it is the job's object and its pod at once. On the hub it waits behind a scheduling gate of its own, as
elsewhere a job with `managedBy` does: nobody but Fairway takes it anywhere. What is one of a gang is none by itself:
the gang's job is the pod whose name comes first, with the others in it (workloads/gangs).
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.gangs import pod_groups
from fairway.workloads.gangs import pods as gang
from fairway.workloads.gangs.found_gang import written_out
from fairway.workloads.hub_status import entries
from fairway.workloads.kinds.gated_status import ENDS
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, SUCCEEDED, UNKNOWN, Phase, condition, said, told
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.reading.fields import Field
from fairway.workloads.references import Find, WrittenOut

Json = dict[str, Any]
# In a member: a pod that is a job's object, and not only of a job.
ALONE_LABEL = "fairway.io/alone"
# By these a pod says that it starts together with others, and they are not read: a label of Koordinator, and
# annotations of Volcano (one that a tenant's pod may not have), of YuniKorn and of KAI.
_GANG_LABELS = ("pod-group.scheduling.sigs.k8s.io/name",)
_GANG_ANNOTATIONS = ("scheduling.volcano.sh/group-name", "yunikorn.apache.org/task-group-name", "pod-group-name")
# Fields of the spec by which it says so to Kubernetes itself: of 1.35, and since 1.36.
_GANG_FIELDS = ("workloadRef", "schedulingGroup")
# What API servers write into every pod (plugin/pkg/admission): the token of its account, its priority, and how long it
# stays on a node that is away. Those of the member write their own.
_TOKEN_VOLUME = re.compile(r"kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}")
_PRIORITY = ("priority", "preemptionPolicy")
_AWAY = tuple(
    {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for what in ("not-ready", "unreachable")
)
_CONTAINERS = ("initContainers", "containers")
_REMEDY = (
    "say it by a PodGroup, or by the marks of Kueue or of Koordinator on each pod, or make one Job, JobSet or Volcano "
    "Job of them"
)


class SinglePod(Kind):
    name = "Pod"
    api_version = "v1"
    plural = "pods"
    ends = ENDS
    suspend_path = ()
    name_limit = 253
    label = ALONE_LABEL
    hub_fields = "spec.nodeName="
    bare = True
    refers_to = pod_groups.KINDS
    brings: Mapping[str, str] = MappingProxyType(dict.fromkeys(pod_groups.KINDS, pod_groups.PLURAL))
    spared = frozenset(pod_groups.KINDS)
    let_go = ("spec.schedulingGates", "take every gate but Fairway's away to submit it")

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        gang.check(manifest)
        for pod in gang.pods_of(manifest):
            if why := self.one_of_several(pod.value):
                pod.at(*_way(why.field)).wrong(why.text, why.remedy, why.code)
            for gate in pod["spec"]["schedulingGates"].items():
                if gate["name"].text() != gang.FLEET_GATE:
                    gate.wrong("keeps the pod back, and nobody lifts it in a member", "take it away, then submit it")
        return gang.pod_sets(manifest)

    def written_out(self, manifest: Json, find: Find) -> WrittenOut:
        return written_out(manifest, find)

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        """`status.gang` has those of the other pods, by name."""
        status = manifest["status"]
        if not status[gang.GANG].given:
            return _phase(status)
        phases = {name: _phase(one) for name, one in status[gang.GANG].pairs()}
        leader = str(manifest["metadata"]["name"].value or "")
        return gang.together({leader: _phase(status), **phases}, sum(one.count for one in workload.pod_sets))

    def priority(self, manifest: Field) -> str:
        return first_text(manifest.at("spec", "priorityClassName"))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        return gang.places(manifest)

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        return (of_template(one) for one in gang.pods_of(manifest))

    def set_labels(self, manifest: Json, labels: Mapping[str, str]) -> None:
        super().set_labels(manifest, {**labels, ALONE_LABEL: "true"})

    def prepare(self, copy: Json) -> None:
        """The leader of a gang is a pod of its own there."""
        copy["spec"].pop("schedulingGates", None)  # none but the fleet's is let in
        copy.pop(gang.GANG, None)

    def in_member(self, copy: Json, name: str) -> tuple[Json, dict[str, Json]]:
        """A PodGroup is an object of its own there, and its pods say its name."""
        pod = pod_groups.named_there({key: one for key, one in copy.items() if key != pod_groups.POD_GROUP}, name)
        group = copy.get(pod_groups.POD_GROUP)
        return pod, {f"{group['kind']}.{group['apiVersion']}": {"spec": group["spec"]}} if group else {}

    def as_written(self, manifest: Json) -> Json:
        spec = manifest.get("spec")
        if not isinstance(spec, dict):
            return manifest
        kept = {key: value for key, value in spec.items() if key not in _PRIORITY}
        if kept.get("serviceAccount") == kept.get("serviceAccountName"):
            kept.pop("serviceAccount", None)
        tokens = {one["name"] for one in _entries(spec, "volumes") if _is_token(one)}
        _leave_out(kept, "volumes", [one for one in _entries(spec, "volumes") if one.get("name") in tokens])
        _leave_out(kept, "tolerations", _AWAY)
        for field in _CONTAINERS:
            if isinstance(spec.get(field), list):
                kept[field] = [_without_mounts(one, tokens) for one in spec[field]]
        return {**manifest, "spec": kept}

    def suspended(self, manifest: Mapping[str, Any]) -> bool:
        return any(one.get("name") != gang.FLEET_GATE for one in _entries(manifest.get("spec"), "schedulingGates"))

    def for_the_fleet(self, manifest: Mapping[str, Any]) -> bool:
        return any(one.get("name") == gang.FLEET_GATE for one in _entries(manifest.get("spec"), "schedulingGates"))

    def runs_there(self, manifest: Mapping[str, Any]) -> bool:
        spec = manifest.get("spec")
        return isinstance(spec, dict) and bool(spec.get("nodeName"))

    def one_of_several(self, manifest: Mapping[str, Any]) -> Reason | None:
        meta = manifest.get("metadata")
        for field, names in (("labels", _GANG_LABELS), ("annotations", _GANG_ANNOTATIONS)):
            given = meta.get(field) if isinstance(meta, dict) else None
            marks = given if isinstance(given, dict) else {}
            for name in names:
                if marks.get(name):
                    key = f"['{name}']" if "/" in name else f".{name}"
                    return _gang(f"metadata.{field}{key}", f"{name} says")
        spec = manifest.get("spec")
        wanted = spec if isinstance(spec, dict) else {}
        for name in _GANG_FIELDS:
            if wanted.get(name):
                return _gang(f"spec.{name}", f"{name} says")
        return None


def _phase(status: Field) -> Phase:
    match status["phase"].value:
        case "Succeeded":
            return Phase(SUCCEEDED, _why(status))
        case "Failed":
            return Phase(FAILED, _why(status))
        case "Running":
            up = condition(status, "Ready") or _containers_up(status)
            return Phase(RUNNING, "it is up") if up else Phase(PENDING, _why(status) or "it is not ready")
        case "Unknown":
            return Phase(UNKNOWN, _why(status))
    return Phase(PENDING, _why(status) or "it has no node yet")


def _gang(field: str, who: str) -> Reason:
    text = f"{who} that it starts together with other pods, and does not say with how many"
    return Reason(Code.GANG_OF_PODS, text, field, _REMEDY)


def _way(path: str) -> tuple[str, ...]:
    """The keys of a path such as metadata.labels['a/b']."""
    head, _, quoted = path.partition("['")
    return (*head.split("."), *([quoted.removesuffix("']")] if quoted else ()))


def _why(status: Field) -> str:
    """In the words of who ended it or keeps it: the pod's own, the scheduler's, else those of its first container."""
    if text := told(status["reason"], status["message"]):
        return text
    for field in ("initContainerStatuses", "containerStatuses"):
        for one in status[field].items():
            ended = one["state"]["terminated"]
            if ended.given and ended["exitCode"].value not in (0, None):
                return f"{told(ended['reason'], ended['message'])} (exit code {ended['exitCode'].value})".strip()
            if text := told(one["state"]["waiting"]["reason"], one["state"]["waiting"]["message"]):
                return text
    waits = next((one for one in status["conditions"].items() if one["type"].value == "PodScheduled"), None)
    return said(waits, "") if waits is not None and waits["status"].value == "False" else ""


def _containers_up(status: Field) -> bool:
    """Each is ready or has ended well: with one that has, a pod is never Ready again."""
    found = status["containerStatuses"].items()
    return bool(found) and all(
        one["ready"].value is True or one["state"]["terminated"]["exitCode"].value == 0 for one in found
    )


def _entries(holder: Any, field: str) -> list[Json]:
    return entries(holder.get(field)) if isinstance(holder, dict) else []


def _is_token(volume: Json) -> bool:
    name = volume.get("name")
    sources = _entries(volume.get("projected"), "sources")
    written = isinstance(name, str) and _TOKEN_VOLUME.fullmatch(name) is not None
    return written and any("serviceAccountToken" in one for one in sources)


def _leave_out(spec: Json, field: str, entries: Any) -> None:
    listed = spec.get(field)
    if not isinstance(listed, list):
        return
    spec[field] = [one for one in listed if one not in entries]
    if not spec[field]:
        del spec[field]


def _without_mounts(container: Any, volumes: set[str]) -> Any:
    if not isinstance(container, dict) or not volumes:
        return container
    kept = dict(container)
    _leave_out(kept, "volumeMounts", [one for one in _entries(container, "volumeMounts") if one.get("name") in volumes])
    return kept


POD = SinglePod()
