"""Who wrote which field of an object, as metadata.managedFields tells it.

Over HTTP an entry names its manager alone. Who writes through the port in memory is told with the fields of the spec
besides: whoever writes another value into one owns it from then on.
"""

from typing import Any

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.api.metadata import NOBODY, rfc3339


def entry(manager: str, api_version: str, now: int, owned: Json | None = None) -> Json:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": api_version,
        "time": rfc3339(now),
        "fieldsType": "FieldsV1",
        "fieldsV1": owned or {},
    }


def signed(manager: str, body: Json, now: int) -> Json:
    """The object as `manager` makes it, unless it says itself who made it."""
    owned = {"f:spec": fields(body["spec"])} if "spec" in body else {}
    made = entry(manager, body["apiVersion"], now, owned)
    return {**body, "metadata": {"managedFields": [made], **body["metadata"]}}


def rewritten(manager: str, old: Json, new: Json, now: int) -> Json:
    """`new` as `manager` makes it of `old`: what it sets in the spec is its own and nobody else's, and what it takes
    away is nobody's."""
    before = old.get("spec")
    after = new.get("spec")
    if before == after or new["metadata"].get("managedFields") == NOBODY:
        return new
    taken = _set(before, after)
    lost = _taken_away(before, after)
    entries = old["metadata"].get("managedFields") or ()
    others = [_without(_without(one, taken), lost) for one in entries if one["manager"] != manager]
    mine = entry(manager, new["apiVersion"], now, {"f:spec": taken})
    return {**new, "metadata": {**new["metadata"], "managedFields": [*others, mine]}}


def _without(one: Json, taken: Json) -> Json:
    owned = one.get("fieldsV1") or {}
    return {**one, "fieldsV1": {**owned, "f:spec": _left(owned["f:spec"], taken)}} if "f:spec" in owned else one


def fields(value: Any) -> Json:
    """Every list belongs to one manager as a whole."""
    return {f"f:{name}": fields(item) for name, item in value.items()} if isinstance(value, dict) else {}


def _set(old: Any, new: Any) -> Json:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return fields(new)
    return {f"f:{name}": _set(old.get(name), item) for name, item in new.items() if old.get(name) != item}


def _taken_away(old: Any, new: Any) -> Json:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return {}
    below = {f"f:{name}": _taken_away(item, new[name]) for name, item in old.items() if name in new}
    return {f"f:{name}": {} for name in old if name not in new} | {name: one for name, one in below.items() if one}


def _left(owned: Json, taken: Json) -> Json:
    """Without what was taken; a field that is taken as a whole names none below it."""
    kept = {name: _left(below, taken.get(name) or {}) for name, below in owned.items()}
    return {name: below for name, below in kept.items() if name not in taken or taken[name]}
