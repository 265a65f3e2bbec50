"""Who wrote which field of an object, as metadata.managedFields tells it.

Over HTTP an entry names its manager alone. Who writes through the port in memory is told with the fields of the spec
besides: whoever writes another value into one owns it from then on.
"""

from typing import Any

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.api.metadata import rfc3339


def entry(manager: str, api_version: str, now: int, fields: Json | None = None) -> Json:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": api_version,
        "time": rfc3339(now),
        "fieldsType": "FieldsV1",
        "fieldsV1": fields or {},
    }


def signed(manager: str, body: Json, now: int) -> Json:
    """The object as `manager` makes it, unless it says itself who made it."""
    fields = {"f:spec": _fields(body["spec"])} if "spec" in body else {}
    made = entry(manager, body["apiVersion"], now, fields)
    return {**body, "metadata": {"managedFields": [made], **body["metadata"]}}


def rewritten(manager: str, old: Json, new: Json, now: int) -> Json:
    """`new` as `manager` makes it of `old`: what differs in the spec is its own, and nobody else's."""
    if old.get("spec") == new.get("spec"):
        return new
    taken = {"f:spec": _different(old.get("spec"), new.get("spec"))}
    others = [_without(one, taken) for one in old["metadata"].get("managedFields") or () if one["manager"] != manager]
    mine = entry(manager, new["apiVersion"], now, taken)
    return {**new, "metadata": {**new["metadata"], "managedFields": [*others, mine]}}


def _without(one: Json, taken: Json) -> Json:
    return {**one, "fieldsV1": _left(one.get("fieldsV1") or {}, taken)}


def _fields(value: Any) -> Json:
    """Every list belongs to one manager as a whole."""
    return {f"f:{name}": _fields(item) for name, item in value.items()} if isinstance(value, dict) else {}


def _different(old: Any, new: Any) -> Json:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return _fields(new)
    return {f"f:{name}": _different(old.get(name), item) for name, item in new.items() if old.get(name) != item}


def _left(fields: Json, taken: Json) -> Json:
    """Without what was taken; a field that is taken as a whole names none below it."""
    kept = {name: _left(below, taken.get(name) or {}) for name, below in fields.items()}
    return {name: below for name, below in kept.items() if name not in taken or taken[name]}
