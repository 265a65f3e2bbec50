"""How a job, or a pod, says that it runs on Koordinator's batch resources.

A job says so by an annotation of ours, and a SparkApplication by one that the operator of the fleet names
(FAIRWAY_BATCH_ANNOTATIONS): then all of its pods do. A pod says so by Koordinator's own marks, read in Koordinator's
order (apis/extension/priority_utils.go, GetPodPriorityClassWithDefault): its class, else its class of service. Of a
PriorityClass only the name is known here.
"""

from collections.abc import Container, Iterable

from msgspec.structs import replace

from fairway.domain.batch_resources import batch_pod_sets, on_batch
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import Workload
from fairway.workloads.reading.fields import Field, shown

# On a job's object.
ROOM_ANNOTATION = "fairway.io/room"
BATCH = "batch"
NORMAL = "normal"
BATCH_FIRST = "batch,normal"
_ROOMS = {
    BATCH: "what online pods leave of nodes",
    NORMAL: "cpu and memory",
    BATCH_FIRST: "what online pods leave where there is room in it, else cpu and memory",
}
# On pods.
QOS_LABEL = "koordinator.sh/qosClass"
BEST_EFFORT = "BE"
CLASS_LABEL = "koordinator.sh/priority-class"
KOORD_BATCH = "koord-batch"
_KOORD_CLASSES = ("koord-prod", "koord-mid", KOORD_BATCH, "koord-free")
_ROLES = ("driver", "executor")


def room_said(annotations: Field) -> str:
    """On what all pods of a job run, or of the jobs of a policy, as an annotation says; empty: it says nothing. Notes
    what is wrong with it."""
    room = annotations[ROOM_ANNOTATION]
    if not room.given:
        return ""
    if room.value not in _ROOMS:
        known = ", ".join(f"{name} ({what})" for name, what in _ROOMS.items())
        room.wrong(f"is {shown(room.value)}", f"write one of {known}")
        return ""
    return str(room.value)


def in_room(work: Workload, room: str) -> Workload | Reason:
    """The job on what this annotation says, its own or its policy's; or why it cannot be."""
    if room == BATCH:
        return on_batch(work)
    if room != BATCH_FIRST:
        return work
    if marked := batch_pod_sets(work):
        text = (
            f"is {BATCH_FIRST}, and pods of {', '.join(marked)} are marked for batch resources alone, or ask for them"
        )
        remedy = f"take their marks and requests away, or write {BATCH}"
        return Reason(Code.INVALID, text, f"metadata.annotations['{ROOM_ANNOTATION}']", remedy)
    return replace(work, batch_first=True)


def check_converted(work: Workload, places: Iterable[tuple[Field, str]]) -> None:
    """Notes where pods on batch resources would ask for cpu and memory all the same, which nobody is charged for:
    Koordinator's webhook does not see or does not know what stands in these `places`."""
    if not work.batch_first and not batch_pod_sets(work):
        return
    for resources, remedy in places:
        asked = {name for part in ("requests", "limits") for name in resources[part].mapping()}
        if kept := sorted(asked.intersection(("cpu", "memory"))):
            text = f"asks for {' and '.join(kept)}, which would not become batch resources in a cluster"
            resources.wrong(text, remedy)


def under_policy(work: Workload, annotations: Container[str], room: str) -> Workload:
    """The job on what its policy says (empty: nothing). Its own word counts before that: its annotation, and marks by
    which its pods run on batch resources."""
    own = ROOM_ANNOTATION in annotations or batch_pod_sets(work)
    found = work if own else in_room(work, room)
    assert isinstance(found, Workload), "pods without marks run where they are told to"
    return found


def spark_in_batch(manifest: Field, names: tuple[str, ...]) -> bool:
    """Whether a SparkApplication says so by one of these annotations, on the object or on both of its roles: a driver
    there, with executors that wait for other room, helps nobody."""
    for name in names:
        if _true(manifest["metadata"]["annotations"][name]):
            return True
        roles = [manifest["spec"][role]["annotations"][name] for role in _ROLES]
        said = [_true(one) for one in roles]
        if all(said):
            return True
        if any(said):
            roles[said.index(False)].wrong(
                "is not true, while the other role's is", 'write "true" for both, or on the object'
            )
    return False


def _true(field: Field) -> bool:
    if not field.given:
        return False
    if field.value not in ("true", "false"):
        field.wrong(f"is {shown(field.value)}", 'write "true" or "false", in quotes')
    return bool(field.value == "true")


def pod_in_batch(labels: Field, *classes: Field) -> bool:
    """Whether one pod says that it runs on batch resources. Of `classes` the first counts that names one."""
    if type(marks := labels.value) is not dict:
        marks = {}
    named = marks.get(CLASS_LABEL)
    if named not in _KOORD_CLASSES:
        named = next((one.value for one in classes if one.value), None)
    if named in _KOORD_CLASSES:
        return bool(named == KOORD_BATCH)
    return bool(marks.get(QOS_LABEL) == BEST_EFFORT)
