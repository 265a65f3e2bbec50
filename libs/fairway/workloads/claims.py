"""What a manifest names of others, wherever in it that stands: priority classes, quota leaves and queues. A kind may
have many templates, and an operator hands on more than a reader reads, so every place counts. Pure."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from fairway.domain.quota_tree import QUOTA_LABELS

_CLASS, _LEAF, _QUEUE = "classes", "leaves", "queues"
# As pods, Argo, and Kubeflow's and Spark's scheduling options write it; as Koordinator and Volcano read it in a member.
_KEYS = {
    **dict.fromkeys(("priorityClassName", "priorityClass", "podPriorityClassName"), _CLASS),
    **dict.fromkeys(QUOTA_LABELS, _LEAF),
    **dict.fromkeys(("scheduling.volcano.sh/queue-name", "volcano.sh/queue-name"), _QUEUE),
}
# Fields that name a queue of the member's scheduler.
_QUEUE_FIELDS = (("queue",), ("runPolicy", "schedulingPolicy", "queue"), ("batchSchedulerOptions", "queue"))
# Spark writes labels and annotations of its pods as settings that end with their names.
_SPARK = "spark.kubernetes."


class Claims(Struct, frozen=True):
    """Each as the key or field that names it, and the name."""

    classes: list[tuple[str, str]] = field(default_factory=list)
    leaves: list[tuple[str, str]] = field(default_factory=list)
    queues: list[tuple[str, str]] = field(default_factory=list)


def claims(manifest: dict[str, Any]) -> Claims:
    """Those of a manifest that a reader has taken. The leaf that the object's own labels name is not among them: it is
    the one that the job is charged to."""
    found = Claims()
    left: list[Any] = [value for key, value in manifest.items() if key != "metadata"]
    while left:
        here = left.pop()
        if type(here) is list:
            left += here
        elif type(here) is dict:
            for key, value in here.items():
                if type(value) is str:
                    if key in _KEYS or key.startswith(_SPARK):
                        _note(found, key, value)
                elif type(value) in (dict, list):
                    left.append(value)
    _of_itself(found, manifest)
    return found


def _note(found: Claims, key: str, value: str) -> None:
    kind = _KEYS.get(key, "")
    if not kind and key.startswith(_SPARK):
        kind = next((kind for name, kind in _KEYS.items() if key.endswith(f".{name}")), "")
    if kind and value:
        getattr(found, kind).append((key, value))


def _of_itself(found: Claims, manifest: dict[str, Any]) -> None:
    """What stands in one place only."""
    metadata = manifest.get("metadata") or {}
    for holder in (metadata.get("labels") or {}, metadata.get("annotations") or {}):
        found.queues.extend((key, holder[key]) for key, kind in _KEYS.items() if kind == _QUEUE and holder.get(key))
    for path in _QUEUE_FIELDS:
        if named := _at(manifest.get("spec"), path):
            found.queues.append((".".join(("spec", *path)), named))


def _at(here: Any, path: Iterable[str]) -> str:
    for key in path:
        here = here.get(key) if isinstance(here, dict) else None
    return here if isinstance(here, str) else ""
