"""What of an object may change while it runs, and the steps that change it there. Pure.

Two manifests of a job are compared as copies for the same attempt (workloads.member_copy): what only the hub's object
has is no difference.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.workloads.kinds.kind import Kind, Path

Json = dict[str, Any]

_MISSING = object()
# By what entries of lists are known; Ray has the second one.
_NAMES = ("name", "groupName")


def fixed(kind: Kind, before: Json, after: Json) -> tuple[str, ...]:
    """The fields that differ, and that the kind's operator does not take over while the job runs. Labels and
    annotations of the object itself are for the hub: in the member they stay what they were when it was applied."""
    open_ones = kind.changes_in_place(after)
    return tuple(shown(path) for path in differing(before, after) if not any(_is(path, one) for one in open_ones))


def differing(before: Json, after: Json) -> tuple[Path, ...]:
    """Where two manifests do not say the same beside their metadata, each place as deep as they allow."""
    one, other = ({key: part for key, part in each.items() if key != "metadata"} for each in (before, after))
    return tuple(_differing(one, other, ()))


def shown(path: Path) -> str:
    """`spec.tasks[0].replicas`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]


def steps(live: Json, before: Json, after: Json) -> list[Json]:
    """The JSON patch that changes the live object of `before`, and no other one, to what `after` says where they
    differ; empty when it says so already. What others wrote stays. ValueError where it has no such place any more."""
    found: dict[str, Json] = {}
    for path in differing(before, after):
        wanted = _at(after, path)
        place = _located(live, after if wanted is not _MISSING else before, path)
        there = _at(live, place)
        if wanted is _MISSING or wanted is None:
            if there is not _MISSING:
                found[_pointer(place)] = {"op": "remove", "path": _pointer(place)}
        elif there != wanted:
            top = _first_missing(live, place)
            found[_pointer(top)] = {"op": "add", "path": _pointer(top), "value": _at(after, path[: len(top)])}
    own = {"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]}
    return [own, *found.values()] if found else []


def _differing(before: Any, after: Any, path: Path) -> Iterator[Path]:
    if before == after or (_says_nothing(before) and _says_nothing(after)):
        return
    if _mapping(before, after) and _mapping(after, before):
        one: Mapping[str, Any] = before or {}
        other: Mapping[str, Any] = after or {}
        for key in dict.fromkeys((*one, *other)):
            yield from _differing(one.get(key), other.get(key), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differing(one, other, (*path, index))
    else:
        yield path


def _says_nothing(value: Any) -> bool:
    """To say so and to say nothing is the same. (0 is a number of something.)"""
    return value is None or value is False or value in ({}, [])


def _mapping(value: Any, other: Any) -> bool:
    return isinstance(value, dict) or (value is None and isinstance(other, dict))


def _is(path: Path, one: tuple[str, ...]) -> bool:
    return len(path) == len(one) and all(name in ("*", step) for step, name in zip(path, one, strict=True))


def _at(manifest: Any, path: Path) -> Any:
    here: Any = manifest
    for step in path:
        inside = step in here if isinstance(here, dict) else isinstance(here, list) and step in range(len(here))
        if not inside:
            return _MISSING
        here = here[step]
    return here


def _located(live: Any, manifest: Any, path: Path) -> Path:
    """Where a place of the manifest is in the live object: entries with a name are found by it."""
    found: list[str | int] = []
    here = live
    for step in path:
        manifest = _at(manifest, (step,))
        at = step
        if isinstance(step, int):
            at = _index(here, manifest, step)
        found.append(at)
        here = _at(here, (at,))
    return tuple(found)


def _index(live: Any, entry: Any, index: int) -> int:
    there = live if isinstance(live, list) else []
    key = next((key for key in _NAMES if isinstance(entry, dict) and entry.get(key) is not None), None)
    name = entry[key] if key else None
    if key:
        index = next((at for at, one in enumerate(there) if isinstance(one, dict) and one.get(key) == name), -1)
    if not 0 <= index < len(there):
        raise ValueError(f"the object has no entry {name or index} any more")
    return index


def _first_missing(live: Json, path: Path) -> Path:
    """The shortest part of the path that is not there; all of it, when only the last step may be missing."""
    for length in range(1, len(path)):
        if _at(live, path[:length]) in (_MISSING, None):
            return path[:length]
    return path


def _pointer(path: Path) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
