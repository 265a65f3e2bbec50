"""The pods of a gang in one manifest: its leader's, with the others beside its spec, as `gang`. Pure.

What is sized, ruled on and recorded is that manifest; in a member each is a pod of its own again, and the leader owns
the others.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import structs

from fairway.domain.quota.tree import QUOTA_LABELS
from fairway.wire.workload import PodSet
from fairway.workloads.gangs.limits import CODE, MOST_PODS
from fairway.workloads.gangs.marks import GangMark, read_mark
from fairway.workloads.gangs.pod_groups import POD_GROUP, check_class
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, SUCCEEDED, UNKNOWN, Phase
from fairway.workloads.reading.fields import Field, Problems, shown
from fairway.workloads.reading.names import read_name, read_namespace
from fairway.workloads.reading.pods import read_pod_set
from fairway.workloads.settings.queues import QUEUE_ANNOTATIONS

Json = dict[str, Any]
GANG = "gang"
# In a member: a pod of a gang waits behind it until all of them are there.
GANG_GATE = "fairway.io/gang"
FLEET_GATE = "fairway.io/fleet"
_POD_SET = "pod"
_APPLY_GROUP = "apply it on the hub, or name the file that it is in with -f, too"
_ALIKE = "all pods of a gang say the same there: delete the one that does not, and apply it anew"
# In what all pods of a gang say the same, as it counts for the whole job.
_SAME = (
    *(("metadata", "labels", one) for one in QUOTA_LABELS),
    *(("metadata", "annotations", one) for one in QUEUE_ANNOTATIONS),
    ("spec", "priorityClassName"),
    ("spec", "schedulerName"),
)


def followers(manifest: Mapping[str, Any]) -> list[Json]:
    """The pods beside the leader's, of a valid manifest."""
    return manifest.get(GANG) or []


def pods_of(manifest: Field) -> list[Field]:
    """All of them, the leader's first."""
    return [manifest, *manifest[GANG].items(MOST_PODS - 1)]


def check(manifest: Field) -> None:
    """Notes why the manifest is not that of one whole gang; of a pod that is of none, nothing."""
    mark = read_mark(manifest)
    pods = pods_of(manifest)
    group = manifest[POD_GROUP]
    if mark is None and manifest[GANG].given:
        manifest[GANG].wrong("holds more pods, and the pod says of no gang that it is of it", "leave it out", CODE)
    if group.given and (mark is None or not mark.group):
        group.wrong("is a PodGroup, and the pod names none", "leave it out", CODE)
    if mark is None:
        return
    if mark.group and not group.given:
        text = f"names PodGroup {mark.name}, which says how many pods there are, and is not here"
        manifest["metadata"].at(*mark.field).wrong(text, _APPLY_GROUP, CODE)
        return
    if mark.group:
        check_class(group, manifest)
    if mark.total and not manifest.problems and len(pods) != mark.total:
        _count_wrong(manifest["metadata"].at(*mark.field), mark, len(pods))
        return
    for one in pods[1:]:
        _check_follower(manifest, mark, one)


def _count_wrong(place: Field, mark: GangMark, there: int) -> None:
    if there < mark.total:
        text = f"{there} of {mark.total} pods of gang {mark.name} are there"
        place.wrong(text, "apply the others in this namespace, too: they start together", CODE)
    else:
        text = f"{there} pods say that they are of gang {mark.name}, and that it has {mark.total}"
        place.wrong(text, "delete those that are too many, or give them a gang of their own", CODE)


def _check_follower(leader: Field, mark: GangMark, one: Field) -> None:
    _check_pod(one)
    metadata = one["metadata"]
    name = read_name(metadata["name"], 253)
    if read_namespace(metadata["namespace"]) != read_namespace(leader["metadata"]["namespace"]):
        metadata["namespace"].wrong("is not the gang's own", "a gang is of one namespace")
    names = [each["metadata"]["name"].value for each in pods_of(leader)]
    if names.count(name) > 1:
        metadata["name"].wrong(f"is that of another pod of the gang, {shown(name)}", "give each a name of its own")
    other = read_mark(one)
    first = f"pod {leader['metadata']['name'].value}"
    if other is None or (other.field, other.name) != (mark.field, mark.name):
        metadata.wrong(f"pod {name} does not say that it is of gang {mark.name}, as {first} does", _ALIKE, CODE)
    elif mark.total and other.total and other.total != mark.total:
        text = f"pod {name} says that gang {mark.name} has {other.total} pods, and {first} {mark.total}"
        metadata.at(*mark.field).wrong(text, _ALIKE, CODE)
    for way in _SAME:
        mine, theirs = (_said(each, way) for each in (one, leader))
        if mine != theirs:
            one.at(*way).wrong(f"is {shown(mine)} in pod {name}, and in {first} {shown(theirs)}", _ALIKE, CODE)
    if _gated(one) != _gated(leader):
        having, lacking = (name, first[4:]) if _gated(one) else (first[4:], name)
        text = f"pod {having} of the gang has the gate {FLEET_GATE}, and pod {lacking} has not"
        one["spec"]["schedulingGates"].wrong(text, "delete it, and apply it with that gate", CODE)


def _check_pod(one: Field) -> None:
    if (one["apiVersion"].value, one["kind"].value) != ("v1", "Pod"):
        one["kind"].wrong("is no Pod of v1", "put nothing but pods there")
    for field in (GANG, POD_GROUP):
        if one[field].given:
            one[field].wrong("stands in a pod of a gang", "put it beside the first pod")


def _said(pod: Field, way: tuple[str, ...]) -> Any:
    """Absent or empty is one."""
    here: Any = pod.value
    for key in way:
        here = here.get(key) if isinstance(here, dict) else None
    # What an API server writes where nothing is said.
    return None if here in ("", "default-scheduler") else here


def _gated(pod: Field) -> bool:
    gates = _said(pod, ("spec", "schedulingGates"))
    return isinstance(gates, list) and {"name": FLEET_GATE} in gates


def pod_sets(manifest: Field) -> tuple[PodSet, ...]:
    """Pods that are alike are one pod set."""
    return tuple(structs.replace(one, count=len(names)) for one, names in _grouped(manifest))


def pod_set_names(manifest: Json) -> dict[str, str]:
    """Of each pod of a valid manifest, by its name."""
    grouped = _grouped(Field(manifest, Problems()))
    return {name: one.name for one, names in grouped for name in names}


def _grouped(manifest: Field) -> list[tuple[PodSet, list[str]]]:
    found: list[tuple[PodSet, list[str]]] = []
    for pod in pods_of(manifest):
        read = read_pod_set(_POD_SET, 1, pod)
        alike = next((names for one, names in found if structs.replace(one, name=_POD_SET) == read), None)
        if alike is None:
            number = f"{_POD_SET}-{len(found) + 1}" if found else _POD_SET
            alike = []
            found.append((structs.replace(read, name=number), alike))
        alike.append(str(pod["metadata"]["name"].value))
    return found


def together(phases: Mapping[str, Phase], wanted: int) -> Phase:
    """The gang is up when each pod is, or has ended well; and over with the first that fails."""
    for state in (FAILED, UNKNOWN):
        for name, one in phases.items():
            if one.state == state:
                left = any(other.state not in (FAILED, SUCCEEDED) for other in phases.values())
                return Phase(state, f"pod {name}: {one.text or 'it gave no reason'}", left=left)
    if len(phases) < wanted:
        return Phase(PENDING, f"{len(phases)} of {wanted} pods of the gang are there")
    states = [one.state for one in phases.values()]
    if all(one == SUCCEEDED for one in states):
        return Phase(SUCCEEDED, next((one.text for one in phases.values() if one.text), ""))
    up = sum(one in (RUNNING, SUCCEEDED) for one in states)
    if up == len(states):
        return Phase(RUNNING, f"{up} of {wanted} pods are up")
    waits = next(f"pod {name}: {one.text}" for name, one in phases.items() if one.state == PENDING)
    return Phase(PENDING, f"{up} of {wanted} pods are up; {waits}")


def own_status(name: str, follows: bool, status: Json, over: bool) -> Json:
    """Of the status of a gang, which has those of the others in it, that of one pod: the leader's, or of one that
    `follows` it. Until the gang is `over` none of its pods has ended: the next attempt has all of them again. Of what
    is no gang the status as it is."""
    if GANG not in status:
        return status
    own: Json = status[GANG].get(name) or {} if follows else {key: one for key, one in status.items() if key != GANG}
    if over or own.get("phase") not in ("Succeeded", "Failed"):
        return own
    return {key: one for key, one in own.items() if key not in ("reason", "message")} | {"phase": "Running"}


def places(manifest: Mapping[str, Any]) -> Iterator[tuple[str | int, ...]]:
    """Where the metadata of each pod stand, in a valid manifest."""
    yield ("metadata",)
    for index in range(len(followers(manifest))):
        yield (GANG, index, "metadata")
