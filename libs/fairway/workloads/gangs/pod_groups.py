"""PodGroups: objects beside the pods of a gang that say how many there are. Pure.

In the manifest of a job one stands beside the pod's spec, as `podGroup`, with its own `spec`. In a member it is an
object of its own again, which goes with the job, under a name that is the attempt's: the pods there say that name.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fairway.workloads.gangs.limits import CODE, MOST_PODS
from fairway.workloads.reading.fields import Field, shown

Json = dict[str, Any]
POD_GROUP = "podGroup"
PLURAL = "podgroups"
VOLCANO = "PodGroup.scheduling.volcano.sh/v1beta1"
KOORDINATOR = "PodGroup.scheduling.sigs.k8s.io/v1alpha1"
SCHEDULER_PLUGINS = "PodGroup.scheduling.x-k8s.io/v1alpha1"
# Where a pod names its PodGroup, below its metadata, and of which kind that is.
MARKS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("annotations", "scheduling.k8s.io/group-name"): VOLCANO,
        ("labels", "pod-group.scheduling.sigs.k8s.io"): KOORDINATOR,
        ("labels", "scheduling.x-k8s.io/pod-group"): SCHEDULER_PLUGINS,
    }
)
KINDS = tuple(sorted({*MARKS.values()}))
# What goes to the member as it is.
_TAKEN = {
    VOLCANO: ("minMember", "queue", "priorityClassName", "minResources"),
    KOORDINATOR: ("minMember", "minResources", "scheduleTimeoutSeconds"),
    SCHEDULER_PLUGINS: ("minMember", "minResources", "scheduleTimeoutSeconds"),
}
_EVERYBODYS = ("", "default")


def content(kind: str, spec: Any) -> Json:
    """As it stands in the manifest of a job."""
    name, _, version = kind.partition(".")
    return {"apiVersion": version, "kind": name, "spec": spec}


def kind_of(place: Field) -> str:
    return f"{place['kind'].value}.{place['apiVersion'].value}"


def read_total(place: Field, kind: str) -> int:
    """How many pods the gang has by the PodGroup of that kind that stands there; 0 with a note why it does not say."""
    if kind_of(place) != kind:
        place.wrong(f"is no {kind}, of which the pod says that it is", "write that PodGroup there", CODE)
        return 0
    spec = place["spec"]
    for name, field in spec.pairs():
        if name not in _TAKEN[kind] and field.given:
            text = f"{name} of the PodGroup is not done for a gang of pods, which starts whole or not at all"
            field.wrong(text, "leave it out", CODE)
    if (queue := spec["queue"]).value not in (None, *_EVERYBODYS) and kind == VOLCANO:
        text = f"queue of the PodGroup is {shown(queue.value)}, and the queue of a gang of pods is said by its pods"
        queue.wrong(text, "leave it out, and name the queue in an annotation of each pod", CODE)
    least = spec["minMember"]
    if isinstance(least.value, int) and not isinstance(least.value, bool) and 1 <= least.value <= MOST_PODS:
        return least.value
    text = f"minMember of the PodGroup, which says how many pods the gang has, is {shown(least.value)}"
    least.wrong(text, f"write a whole number from 1 to {MOST_PODS}: all of them start together", CODE)
    return 0


def check_class(place: Field, pod: Field) -> None:
    """Its PriorityClass is that of its pods, if it says one."""
    given = place["spec"]["priorityClassName"]
    if given.value and given.value != pod["spec"]["priorityClassName"].value:
        theirs = shown(pod["spec"]["priorityClassName"].value or "")
        text = f"priorityClassName of the PodGroup is {shown(given.value)}, and that of the pods {theirs}"
        given.wrong(text, "name the same PriorityClass in both, or leave it out here", CODE)


def named_there(pod: Json, name: str) -> Json:
    """A pod as it is in a member, where its PodGroup is called so."""
    meta = pod["metadata"]
    changed: Json = {}
    for holder, mark in MARKS:
        if (meta.get(holder) or {}).get(mark):
            changed[holder] = {**changed.get(holder, meta[holder]), mark: name}
    return {**pod, "metadata": {**meta, **changed}} if changed else pod
