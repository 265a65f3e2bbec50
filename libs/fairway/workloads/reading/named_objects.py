"""What a manifest names of others, wherever in it that stands: priority classes, quota leaves and queues. A kind may
have many templates, and an operator hands on more than a reader reads, so every place counts. Pure."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from fairway.domain.quota.tree import QUOTA_LABELS
from fairway.workloads.reading.wrapped import wrapped

_CLASS = "classes"
_LEAF = "leaves"
_QUEUE = "queues"
# As pods, Argo, and Kubeflow's and Spark's scheduling options write it; as Koordinator and Volcano read it in a member.
_KEYS = {
    **dict.fromkeys(("priorityClassName", "priorityClass", "podPriorityClassName"), _CLASS),
    **dict.fromkeys(QUOTA_LABELS, _LEAF),
    **dict.fromkeys(("scheduling.volcano.sh/queue-name", "volcano.sh/queue-name"), _QUEUE),
}
_QUEUE_KEYS = tuple(key for key, kind in _KEYS.items() if kind == _QUEUE)
# Spark writes labels and annotations of its pods as settings that end with their names.
_CONF = "sparkConf"
_SPARK = "spark.kubernetes."
_NAMES = frozenset((*_KEYS, _CONF))
# Each of them holds one of these.
_WORDS = (b"riorityClass", *(name.encode() for name in QUOTA_LABELS), b"volcano.sh/queue-name", _CONF.encode())
# Fields that name a queue of the member's scheduler; each ends with this one.
_QUEUE_FIELD = b'"queue"'
_QUEUE_FIELDS = (("queue",), ("runPolicy", "schedulingPolicy", "queue"), ("batchSchedulerOptions", "queue"))


class NamedObjects(Struct, frozen=True):
    """Each name once, after the first key or field that names it."""

    classes: list[tuple[str, str]] = field(default_factory=list)
    leaves: list[tuple[str, str]] = field(default_factory=list)
    queues: list[tuple[str, str]] = field(default_factory=list)


# Of classes, leaves and queues: the key or field by the name, so that what is said often is looked at once.
_Found = dict[str, dict[str, str]]


def claims(manifest: dict[str, Any], text: bytes) -> NamedObjects:
    """Those of a manifest that a reader has taken; `text` is the JSON that it was read from. The leaf that the object's
    own labels name is not among them: it is the one that the job is charged to."""
    found: _Found = {_CLASS: {}, _LEAF: {}, _QUEUE: {}}
    if not may_claim(text):
        return NamedObjects()
    if b"\\" in text or any(word in text for word in _WORDS):
        _walk(found, manifest)
    for one in (manifest, *wrapped(manifest)):
        _of_itself(found, one)
    return NamedObjects(*([(key, name) for name, key in found[kind].items()] for kind in (_CLASS, _LEAF, _QUEUE)))


def may_claim(text: bytes) -> bool:
    """Whether a manifest of this JSON may name any. Most jobs name nothing. That shows soonest in the text, unless
    something there is escaped."""
    return b"\\" in text or _QUEUE_FIELD in text or any(word in text for word in _WORDS)


def _walk(found: _Found, manifest: dict[str, Any]) -> None:
    # What is neither a mapping nor a list is not even put on the list.
    left: list[Any] = [value for key, value in manifest.items() if key != "metadata"]
    for here in left:
        if type(here) is dict:
            if not _NAMES.isdisjoint(here):
                _note(found, here)
            for value in here.values():
                if type(value) is dict or type(value) is list:
                    left.append(value)
        elif type(here) is list:
            for value in here:
                if type(value) is dict or type(value) is list:
                    left.append(value)


def _note(found: _Found, here: dict[str, Any]) -> None:
    for key, kind in _KEYS.items():
        value = here.get(key)
        if type(value) is str and value:
            found[kind].setdefault(value, key)
    conf = here.get(_CONF)
    for key, value in conf.items() if type(conf) is dict else ():
        if key.startswith(_SPARK) and type(value) is str and value:
            for name, kind in _KEYS.items():
                if key.endswith(f".{name}"):
                    found[kind].setdefault(value, key)


def _of_itself(found: _Found, manifest: dict[str, Any]) -> None:
    """What stands in one place only."""
    metadata = manifest.get("metadata") or {}
    for holder in (metadata.get("labels") or {}, metadata.get("annotations") or {}):
        for key in _QUEUE_KEYS:
            if named := holder.get(key):
                found[_QUEUE].setdefault(named, key)
    spec = manifest.get("spec") or {}
    for path in _QUEUE_FIELDS:
        if path[0] in spec and (named := _at(spec, path)):
            found[_QUEUE].setdefault(named, ".".join(("spec", *path)))


def _at(here: Any, path: Iterable[str]) -> str:
    for key in path:
        here = here.get(key) if isinstance(here, dict) else None
    return here if isinstance(here, str) else ""
