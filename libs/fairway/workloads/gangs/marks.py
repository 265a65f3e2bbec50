"""By what a pod says that it starts together with others, and with how many: the marks of Kueue and of Koordinator,
where the number stands on each pod, and the names of PodGroups, which say it. Pure."""

from typing import Any, NamedTuple

from fairway.domain.text.digits import is_whole
from fairway.workloads.gangs.limits import CODE, MOST_PODS
from fairway.workloads.gangs.pod_groups import MARKS, POD_GROUP, read_total
from fairway.workloads.reading.fields import Field, Problems, shown

_KUEUE = "kueue.x-k8s.io"
_KOORDINATOR = "gang.scheduling.koordinator.sh"
KUEUE_NAME = f"{_KUEUE}/pod-group-name"
_KUEUE_COUNT = f"{_KUEUE}/pod-group-total-count"
_KOORDINATOR_NAME = f"{_KOORDINATOR}/name"
_LEAST = f"{_KOORDINATOR}/min-available"
_TOTAL = f"{_KOORDINATOR}/total-number"
# By annotation the values that say what Fairway does anyway; any other is refused.
_ONLY = {
    f"{_KUEUE}/pod-group-fast-admission": ("", "false"),
    f"{_KUEUE}/pod-group-serving": ("", "false"),
    f"{_KUEUE}/retriable-in-group": ("", "false"),
    f"{_KOORDINATOR}/groups": ("", "[]"),
    f"{_KOORDINATOR}/mode": ("", "Strict"),
}
# Where a gang may be named, below metadata.
_FIELDS = (("labels", KUEUE_NAME), ("annotations", _KOORDINATOR_NAME), *MARKS)
_LEAVE_OUT = "leave it out: a gang of pods starts whole, fails with the first of its pods, and starts anew as a whole"


class GangMark(NamedTuple):
    """`field` is where its name stands, below metadata; `total` how many pods it has (0: that is not known); `group`
    the kind of the PodGroup that it names, empty without one."""

    field: tuple[str, str]
    name: str
    total: int
    group: str = ""


def gang_key(manifest: dict[str, Any]) -> str:
    """Which gang of its namespace an object says that it is of, well or badly; empty: of none."""
    found = named(Field(manifest, Problems())["metadata"])
    return f"{found[1]}: {Field(manifest, Problems())['metadata'].at(*found).value}" if found else ""


def named(metadata: Field) -> tuple[str, str] | None:
    """Where the mark stands."""
    return next(iter(_marks(metadata)), None)


def _marks(metadata: Field) -> list[tuple[str, str]]:
    held = {name: value for name in ("labels", "annotations") if isinstance(value := metadata[name].value, dict)}
    return [(holder, mark) for holder, mark in _FIELDS if held.get(holder, {}).get(mark)]


def read_mark(pod: Field) -> GangMark | None:
    """Notes what is wrong with it; None without any mark that can be read. How many pods a PodGroup asks for stands in
    the pod that leads the gang."""
    metadata = pod["metadata"]
    marks = _marks(metadata)
    if not marks:
        return None
    field, *others = marks
    name = metadata.at(*field).text()
    for other in others:
        metadata.at(*other).wrong(f"is a second mark of a gang, beside {field[1]}", "keep one", CODE)
    if field in MARKS:
        group = pod[POD_GROUP]
        return GangMark(field, name, read_total(group, MARKS[field]) if group.given else 0, MARKS[field])
    return _counted(metadata, field, name)


def _counted(metadata: Field, field: tuple[str, str], name: str) -> GangMark:
    """With the number on the pod itself."""
    notes = metadata["annotations"]
    for one, allowed in _ONLY.items():
        if (given := notes[one]).given and given.value not in allowed:
            given.wrong(f"is {shown(given.value)}, which is not done for a gang of pods", _LEAVE_OUT, CODE)
    if field[1] == KUEUE_NAME:
        return GangMark(field, name, _count(notes[_KUEUE_COUNT]))
    count = _count(notes[_LEAST])
    if (total := notes[_TOTAL]).given and total.value != notes[_LEAST].value:
        text = f"is {shown(total.value)}, and min-available {shown(notes[_LEAST].value)}"
        total.wrong(text, "say the same in both: a gang starts with all of its pods", CODE)
    return GangMark(field, name, count)


def _count(field: Field) -> int:
    value = field.value
    if isinstance(value, str) and is_whole(value, 2) and 1 <= int(value) <= MOST_PODS:
        return int(value)
    field.wrong(
        f"is {shown(value)}, where each pod of a gang says how many there are",
        f"write a whole number from 1 to {MOST_PODS} in digits, the same on each of them",
        CODE,
    )
    return 0
