"""Whether somebody changed what we applied. Pure: from what the API server keeps of who set which field.

A server-side apply leaves, under `managedFields`, every field that we own; whoever writes another value into one owns
it from then on. So a difference counts only where the field is ours no more: what servers, webhooks and definitions
made of our values when they were applied stays ours, and what they added never was. Whoever writes the status is the
kind's operator, and may change its spec too; a scale subresource is for autoscalers.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from fairway.workloads.member_copy import FIELD_MANAGER

Json = dict[str, Any]
Path = tuple[str | int, ...]
# To say so and to say nothing is the same.
_NOTHING: tuple[Any, ...] = (None, {}, [], "", False)
_encode = msgspec.json.Encoder(order="deterministic").encode


class Edit(Struct, frozen=True):
    """`who` is the field manager as the server knows it, such as `kubectl-edit`; empty when it took the field away."""

    path: str
    who: str = ""


class Marks(Struct, frozen=True):
    """Who has set what in a spec, in short: `all` of them, and what is `ours`. Empty where the server does not say, or
    where nothing was changed since the object was made."""

    all: str = ""
    ours: str = ""


def marks(manifest: Json) -> Marks:
    meta = manifest.get("metadata") or {}
    specs = [(manager, fields) for manager, fields in _of_spec(meta) if fields]
    ours = [fields for manager, fields in specs if manager == FIELD_MANAGER]
    if not ours:
        return Marks()
    touched = (meta.get("generation") or 0) > 1
    return Marks(_short(sorted(specs, key=lambda one: one[0])) if touched else "", _short(ours))


def edits(applied: Json, live: Json, lost: bool) -> tuple[Edit, ...]:
    """What of `applied` somebody changed. `lost`: a field that was ours is not ours any more, whoever did it."""
    meta = live.get("metadata") or {}
    operators = _status_writers(meta)
    specs = _of_spec(meta)
    found = []
    for path, there in _different(applied.get("spec"), live.get("spec"), ()):
        owners = {manager for manager, fields in specs if _owns(fields, path, live.get("spec"))}
        if FIELD_MANAGER in owners or owners & operators:
            continue
        if owners:
            found.append(Edit(_text(path), min(owners)))
        elif lost and not there:
            found.append(Edit(_text(path)))
    return tuple(found)


def _of_spec(meta: Json) -> list[tuple[str, Json]]:
    entries = [one for one in meta.get("managedFields") or () if not one.get("subresource")]
    return [(str(one.get("manager")), (one.get("fieldsV1") or {}).get("f:spec") or {}) for one in entries]


def _status_writers(meta: Json) -> set[str]:
    entries = meta.get("managedFields") or ()
    wrote = [one for one in entries if one.get("subresource") == "status" or "f:status" in (one.get("fieldsV1") or {})]
    return {str(one.get("manager")) for one in wrote}


def _short(value: Any) -> str:
    return blake2b(_encode(value), digest_size=12).hexdigest()


def _different(ours: Any, live: Any, path: Path) -> Iterator[tuple[Path, bool]]:
    """Places where the live object does not say what we said, and whether there is anything at all."""
    if isinstance(ours, dict) and isinstance(live, dict):
        for key, value in ours.items():
            if key in live:
                yield from _different(value, live[key], (*path, key))
            elif value not in _NOTHING:
                yield (*path, key), False
    elif isinstance(ours, list) and isinstance(live, list):
        for index, value in enumerate(ours):
            at = _same_item(value, live, index)
            if at is None:
                yield (*path, index), False
            else:
                yield from _different(value, live[at], (*path, at))
    elif str(ours) != str(live):
        yield path, live is not None


def _same_item(value: Any, live: list[Any], index: int) -> int | None:
    """Where an entry of a list is now: entries with a name are found by it."""
    if isinstance(value, dict) and "name" in value:
        same = (at for at, one in enumerate(live) if isinstance(one, dict) and one.get("name") == value["name"])
        return next(same, None)
    return index if index < len(live) else None


def _owns(fields: Json, path: Path, live: Any) -> bool:
    """Whether a set of fields (FieldsV1) holds this place, or something that holds it as a whole."""
    here: Any = fields
    for step in path:
        if not here:
            return True  # an atomic list or mapping: whoever owns it owns all of it
        key = f"f:{step}" if isinstance(step, str) else _item(here, live, step)
        if key not in here:
            return False
        here = here[key]
        live = _below(live, step)
    return True


def _item(fields: Json, live: Any, index: int) -> str:
    """The key under which an entry of a list stands: by its own key fields, its value, or its place."""
    entry = _below(live, index)
    for key in fields:
        kind, _, rest = key.partition(":")
        if kind == "k" and isinstance(entry, dict) and msgspec.json.decode(rest).items() <= entry.items():
            return key
        if kind == "v" and msgspec.json.decode(rest) == entry:
            return key
    return f"i:{index}"


def _below(live: Any, step: str | int) -> Any:
    if isinstance(live, dict):
        return live.get(step)
    return live[step] if isinstance(live, list) and isinstance(step, int) and step < len(live) else None


def _text(path: Path) -> str:
    return "spec" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
