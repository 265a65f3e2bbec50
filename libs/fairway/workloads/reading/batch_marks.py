"""How a job, or a pod, says that it runs on Koordinator's batch resources.

A job says so by an annotation of ours, and a SparkApplication by one that the operator of the fleet names
(FAIRWAY_BATCH_ANNOTATIONS): then all of its pods do. A pod says so by Koordinator's own marks, read in Koordinator's
order (apis/extension/priority_utils.go, GetPodPriorityClassWithDefault): its class, else its class of service. Of a
PriorityClass only the name is known here.
"""

from fairway.workloads.reading.fields import Field, shown

# On a job's object.
ROOM_ANNOTATION = "fairway.io/room"
BATCH = "batch"
NORMAL = "normal"
# On pods.
QOS_LABEL = "koordinator.sh/qosClass"
BEST_EFFORT = "BE"
CLASS_LABEL = "koordinator.sh/priority-class"
KOORD_BATCH = "koord-batch"
_KOORD_CLASSES = ("koord-prod", "koord-mid", KOORD_BATCH, "koord-free")
_ROLES = ("driver", "executor")


def job_in_batch(annotations: Field) -> bool:
    """Whether all pods of a job run on batch resources because its annotation says so. Notes what is wrong with it."""
    room = annotations[ROOM_ANNOTATION]
    if room.given and room.value not in (BATCH, NORMAL):
        room.wrong(f"is {shown(room.value)}", f"write {BATCH} (what online pods leave of nodes) or {NORMAL}")
    return bool(room.value == BATCH)


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
