"""Tables for `kubectl get`: the columns a person sees."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from aiohttp import web

from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.api.registry import AGE, ApiResource, Column
from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.kubesim.tables.human_time import INVALID, moment, span
from fairway.lab.kubesim.tables.json_path import compiled, found

Cells = Callable[[Json, int], list[object]]


def wanted(request: web.BaseRequest, api: ClusterApi, resource: ApiResource) -> "Table | None":
    """A table when the client prefers one to plain objects."""
    first = request.headers.get("Accept", "").split(",")[0]
    if "as=Table" not in first:
        return None
    return Table(resource, request.query.get("includeObject", "Metadata"), api.clock.now)


class Table:
    """Of a built-in kind as that is always shown; of a custom one by the columns of its definition."""

    def __init__(self, resource: ApiResource, include: str, now: Callable[[], int]) -> None:
        self._include = include
        self._now = now
        if resource.builtin:
            names, self._cells = _SPECIAL.get(resource.storage, (("Name",), _named))
            self._columns = tuple(Column(name, "", priority=int(name in _WIDE)) for name in (*names, "Age"))
        else:
            self._columns = (Column("Name", ""), *(resource.columns or (AGE,)))
            self._cells = _custom(resource.columns or (AGE,))

    def of(self, objects: Sequence[StoredObject], version: int, metadata: Json | None = None) -> bytes:
        now = self._now()
        definitions = [
            {
                "name": one.name,
                "type": one.type,
                "format": "name" if index == 0 and one.name == "Name" else one.format,
                "description": one.description,
                "priority": one.priority,
            }
            for index, one in enumerate(self._columns)
        ]
        rows = [{"cells": self._cells(stored.obj, now), "object": self._object(stored)} for stored in objects]
        table = {
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata or {"resourceVersion": str(version)},
            "columnDefinitions": definitions,
            "rows": rows,
        }
        return msgspec.json.encode(table)

    def _object(self, stored: StoredObject) -> object:
        if self._include == "None":
            return None
        if self._include == "Object":
            return stored.obj
        kind = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
        return {**kind, "metadata": stored.obj["metadata"]}


def _custom(columns: Sequence[Column]) -> Cells:
    paths = [compiled(column.path) for column in columns]

    def cells(obj: Json, now: int) -> list[object]:
        values = (found(obj, steps)[:1] if steps is not None else [] for steps in paths)
        each = zip(columns, values, strict=True)
        return [obj["metadata"]["name"], *(_cell(column, value[0], now) if value else None for column, value in each)]

    return cells


def _cell(column: Column, value: Any, now: int) -> object:
    """A value in the form of its column; None for one that is of another type."""
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    match column.type:
        case "string":
            return _text(value)
        case "integer":
            return int(value) if whole else None
        case "number":
            return _stored(float(value)) if whole else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date" if isinstance(value, str):
            return _since(value, now) if not value or moment(value) is not None else INVALID
    return None


def _text(value: Any) -> str:
    if isinstance(value, dict | list):
        text = msgspec.json.encode(_stored(value), order="sorted").decode()
        return "".join(_ESCAPED.get(letter, letter) for letter in text)
    if isinstance(value, bool):
        return "true" if value else "false"
    value = _stored(value)
    if isinstance(value, float):
        return _number(value)
    return "<no value>" if value is None else str(value)


def _stored(value: Any) -> Any:
    """A whole number is stored without its fraction."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_PLAIN:
        return int(value)
    if isinstance(value, dict):
        return {key: _stored(one) for key, one in value.items()}
    return [_stored(one) for one in value] if isinstance(value, list) else value


def _number(value: float) -> str:
    """As Go shows it."""
    digits = Decimal(repr(value))
    if -5 < digits.adjusted() < _LARGEST_EXPONENT:
        return f"{digits:f}"
    mantissa = f"{digits.scaleb(-digits.adjusted()).normalize():f}"
    return f"{mantissa}e{digits.adjusted():+03d}"


def _age(obj: Json, now: int) -> str:
    return _since(obj["metadata"].get("creationTimestamp"), now)


def _since(begin: Any, now: int) -> str:
    at = moment(begin)
    return "<unknown>" if at is None else span(now - at)


def _named(obj: Json, now: int) -> list[object]:
    return [obj["metadata"]["name"], _age(obj, now)]


def _pod(obj: Json, now: int) -> list[object]:
    status = obj.get("status", {})
    containers = status.get("containerStatuses") or ()
    ready = sum(1 for one in containers if one.get("ready"))
    restarts = sum(one.get("restartCount", 0) for one in containers)
    shown = status.get("reason") or status.get("phase")
    if any(one.get("reason") == "SchedulingGated" for one in status.get("conditions") or ()):
        shown = "SchedulingGated"
    if obj["metadata"].get("deletionTimestamp"):
        shown = "Terminating"
    if shown == "Succeeded":
        shown = "Completed"
    total = len(obj.get("spec", {}).get("containers") or ())
    where = [status.get("podIP", "<none>"), obj.get("spec", {}).get("nodeName", "<none>")]
    return [obj["metadata"]["name"], f"{ready}/{total}", shown, str(restarts), *where, _age(obj, now)]


def _node(obj: Json, now: int) -> list[object]:
    ready = "Ready" if found(obj, _READY)[:1] == ["True"] else "NotReady"
    if obj.get("spec", {}).get("unschedulable"):
        ready += ",SchedulingDisabled"
    version = (obj.get("status", {}).get("nodeInfo") or {}).get("kubeletVersion")
    return [obj["metadata"]["name"], ready, "<none>", version, _age(obj, now)]


def _job(obj: Json, now: int) -> list[object]:
    status = obj.get("status", {})
    spec = obj.get("spec", {})
    shown = "Running"
    for condition in status.get("conditions") or ():
        if condition.get("status") == "True" and condition["type"] in ("Complete", "Failed", "Suspended"):
            shown = condition["type"]
    wanted = spec.get("completions") or spec.get("parallelism") or 1
    begin = status.get("startTime")
    end = status.get("completionTime")
    taken = _since(begin, (moment(end) or now) if end else now) if begin else ""
    return [obj["metadata"]["name"], shown, f"{status.get('succeeded', 0)}/{wanted}", taken, _age(obj, now)]


def _event(obj: Json, now: int) -> list[object]:
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    target = f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"
    return [
        _since(obj.get("lastTimestamp"), now),
        obj.get("type"),
        obj.get("reason"),
        target,
        obj.get("message"),
        _age(obj, now),
    ]


_WIDE = ("IP", "Node")
# As Go writes JSON.
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_LARGEST_PLAIN = 1e21
_LARGEST_EXPONENT = 6
_READY = compiled('.status.conditions[?(@.type=="Ready")].status') or ()
_SPECIAL: dict[str, tuple[tuple[str, ...], Cells]] = {
    "pods": (("Name", "Ready", "Status", "Restarts", "IP", "Node"), _pod),
    "nodes": (("Name", "Status", "Roles", "Version"), _node),
    "jobs.batch": (("Name", "Status", "Completions", "Duration"), _job),
    "events": (("Last Seen", "Type", "Reason", "Object", "Message"), _event),
}
