"""Tables for `kubectl get`: the columns a person sees."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from aiohttp import web

from fairway.domain.text.digits import is_whole
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.api.registry import ApiResource, Column
from fairway.lab.kubesim.api.store import StoredObject

Cells = Callable[[Json, int], list[object]]


def wanted(request: web.BaseRequest, api: ClusterApi, resource: ApiResource) -> "Table | None":
    """A table when the client prefers one to plain objects."""
    first = request.headers.get("Accept", "").split(",")[0]
    if "as=Table" not in first:
        return None
    return Table(resource, request.query.get("includeObject", "Metadata"), api.clock.now)


class Table:
    def __init__(self, resource: ApiResource, include: str, now: Callable[[], int]) -> None:
        self._include = include
        self._now = now
        names, self._cells = _SPECIAL.get(resource.storage if resource.builtin else "", (("Name",), _plain(resource)))
        self._columns = (*(Column(name, "", priority=int(name in _WIDE)) for name in names), *resource.columns)

    def of(self, found: Sequence[StoredObject], version: int, metadata: Json | None = None) -> bytes:
        now = self._now()
        names = (*self._columns, Column("Age", "metadata.creationTimestamp"))
        definitions = [
            {
                "name": one.name,
                "type": one.type,
                "format": "name" if one.name == "Name" else "",
                "priority": one.priority,
                "description": "",
            }
            for one in names
        ]
        rows = []
        for stored in found:
            age = _span(_millis(stored.obj["metadata"].get("creationTimestamp")), now)
            rows.append({"cells": [*self._cells(stored.obj, now), age], "object": self._object(stored)})
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


def _plain(resource: ApiResource) -> Cells:
    return lambda obj, now: [obj["metadata"]["name"], *(dig(obj, column.path) for column in resource.columns)]


def _pod(obj: Json, now: int) -> list[object]:
    status = obj.get("status", {})
    containers = status.get("containerStatuses") or ()
    ready = sum(1 for one in containers if one.get("ready"))
    restarts = sum(one.get("restartCount", 0) for one in containers)
    shown = "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("reason") or status.get("phase")
    if shown == "Succeeded":
        shown = "Completed"
    total = len(obj.get("spec", {}).get("containers") or ())
    where = [status.get("podIP", "<none>"), obj.get("spec", {}).get("nodeName", "<none>")]
    return [obj["metadata"]["name"], f"{ready}/{total}", shown, str(restarts), *where]


def _node(obj: Json, now: int) -> list[object]:
    ready = "Ready" if dig(obj, "status.conditions[Ready]") == "True" else "NotReady"
    if obj.get("spec", {}).get("unschedulable"):
        ready += ",SchedulingDisabled"
    return [obj["metadata"]["name"], ready, "<none>", dig(obj, "status.nodeInfo.kubeletVersion")]


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
    taken = _span(_millis(begin), _millis(end) if end else now) if begin else ""
    return [obj["metadata"]["name"], shown, f"{status.get('succeeded', 0)}/{wanted}", taken]


def _event(obj: Json, now: int) -> list[object]:
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    target = f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"
    return [
        _span(_millis(obj.get("lastTimestamp")), now),
        obj.get("type"),
        obj.get("reason"),
        target,
        obj.get("message"),
    ]


_WIDE = ("IP", "Node")
_SPECIAL: dict[str, tuple[tuple[str, ...], Cells]] = {
    "pods": (("Name", "Ready", "Status", "Restarts", "IP", "Node"), _pod),
    "nodes": (("Name", "Status", "Roles", "Version"), _node),
    "jobs.batch": (("Name", "Status", "Completions", "Duration"), _job),
    "events": (("Last Seen", "Type", "Reason", "Object", "Message"), _event),
}


def dig(obj: Any, path: str) -> Any:
    """A field by dotted path; `conditions[-1]` is the last one that is True, `conditions[Ready]` the
    status of one."""
    at = obj
    for step in path.split("."):
        name, _, index = step.partition("[")
        at = at.get(name) if isinstance(at, dict) else None
        if index and isinstance(at, list):
            at = _pick(at, index.rstrip("]"))
    return at


def _pick(found: list[Any], index: str) -> Any:
    if index == "-1":
        true = [one for one in found if isinstance(one, dict) and one.get("status") == "True"]
        return true[-1] if true else None
    for one in found:
        if isinstance(one, dict) and one.get("type") == index:
            return one.get("status")
    return found[int(index)] if is_whole(index) and int(index) < len(found) else None


def _millis(text: Any) -> int:
    if not text:
        return 0
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp() * 1000)


def _span(begin: int, end: int) -> str:
    """`45s`, `12m`, `3h`, `4d`."""
    seconds = max(0, (end - begin) // 1000) if begin else 0
    for unit, size, limit in (("s", 1, 120), ("m", 60, 180), ("h", 3600, 48)):
        if seconds < limit * size:
            return f"{seconds // size}{unit}"
    return f"{seconds // 86400}d"
