"""By what a pod says that it starts together with others, and with how many: the marks of Kueue and of Koordinator,
where the number stands on each pod. Pure."""

from typing import Any, NamedTuple

from fairway.domain.text.digits import is_whole
from fairway.wire.reasons import Code
from fairway.workloads.reading.fields import Field, Problems, shown

CODE = Code.GANG_OF_PODS
# Together with the manifest's own: as many as one job may refer to (references.MOST_REFERENCES).
MOST_PODS = 64
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
_LEAVE_OUT = "leave it out: a gang of pods starts whole, fails with the first of its pods, and starts anew as a whole"


class GangMark(NamedTuple):
    """`field` is where its name stands, below metadata; `total` how many pods it has."""

    field: tuple[str, str]
    name: str
    total: int


def gang_key(manifest: dict[str, Any]) -> str:
    """Which gang of its namespace an object says that it is of, well or badly; empty: of none."""
    found = named(Field(manifest, Problems())["metadata"])
    return f"{found[1]}: {Field(manifest, Problems())['metadata'].at(*found).value}" if found else ""


def named(metadata: Field) -> tuple[str, str] | None:
    """Where the mark stands."""
    for field in (("labels", KUEUE_NAME), ("annotations", _KOORDINATOR_NAME)):
        place = metadata[field[0]]
        if isinstance(place.value, dict) and place.value.get(field[1]):
            return field
    return None


def read_mark(metadata: Field) -> GangMark | None:
    """Notes what is wrong with it; None without any mark that can be read."""
    field = named(metadata)
    if field is None:
        return None
    name = metadata.at(*field).text()
    notes = metadata["annotations"]
    if field[1] == KUEUE_NAME and notes[_KOORDINATOR_NAME].value:
        notes[_KOORDINATOR_NAME].wrong(f"is a second mark of a gang, beside {KUEUE_NAME}", "keep one", CODE)
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
