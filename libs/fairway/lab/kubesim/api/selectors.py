"""Label and field selectors, as kubectl and the client libraries write them."""

import re
from collections.abc import Callable
from typing import Any

from fairway.lab.kubesim.api.errors import Json, bad_request
from fairway.lab.kubesim.api.store import Event

Match = Callable[[Json], bool]

_SET = re.compile(r"^(!?)\s*([A-Za-z0-9._/-]+)(?:\s+(in|notin)\s+\(([^)]*)\))?$")
_FIELD = re.compile(r"^\s*([^=!]+?)\s*(==|=|!=)\s*(.*)$")
_EQUAL = re.compile(r"^([A-Za-z0-9._/-]+)\s*(==|=|!=)\s*([A-Za-z0-9._-]*)$")

# Field labels of the built-in kinds that clients select by; every kind has the two of metadata.
FIELDS: dict[str, tuple[str, ...]] = {
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "secrets": ("type",),
    "jobs.batch": ("status.successful",),
}


def labels(text: str) -> Match:
    """A matcher of an object's labels for `a=b,c!=d,e in (f,g),!h`."""
    parts = re.split(r",(?![^(]*\))", text)  # at commas outside parentheses
    tests = [_label_test(part.strip()) for part in parts if part.strip()]

    def matches(obj: Json) -> bool:
        found = obj["metadata"].get("labels") or {}
        return all(test(found) for test in tests)

    return matches


def _label_test(part: str) -> Match:
    equal = _EQUAL.match(part)
    if equal:
        key, sign, value = equal.groups()
        if sign == "!=":
            return lambda found: found.get(key) != value
        return lambda found: found.get(key) == value
    group = _SET.match(part)
    if not group or (group[1] and group[3]):
        raise bad_request(f"unable to parse requirement: {part!r} is not a label selector")
    negated, key, sign, listed = group.groups()
    if not sign:
        return (lambda found: key not in found) if negated else (lambda found: key in found)
    values = {value.strip() for value in listed.split(",")}
    if sign == "in":
        return lambda found: found.get(key) in values
    return lambda found: found.get(key) not in values


def fields(storage: str, text: str) -> Match:
    """A matcher of an object's fields for `metadata.name=x,spec.nodeName!=`; 400 for an unknown field."""
    known = ("metadata.name", "metadata.namespace", *FIELDS.get(storage, ()))
    tests: list[tuple[list[str], str, bool]] = []
    for part in text.split(","):
        if not part.strip():
            continue
        found = _FIELD.match(part)
        path, sign, value = found.groups() if found else (part, "", "")
        if not sign or path not in known:
            raise bad_request(f'field label not supported: "{path}"')
        tests.append((path.split("."), value.strip(), sign != "!="))
    return lambda obj: all((_text(obj, path) == value) is wanted for path, value, wanted in tests)


def _text(obj: Json, path: list[str]) -> str:
    at: Any = obj
    for step in path:
        at = at.get(step) if isinstance(at, dict) else None
    if isinstance(at, bool):
        return str(at).lower()
    return "" if at is None else str(at)


def both(storage: str, label_text: str, field_text: str) -> Match | None:
    """None when everything matches."""
    tests = [labels(label_text)] if label_text else []
    tests += [fields(storage, field_text)] if field_text else []
    if not tests:
        return None
    return lambda obj: all(test(obj) for test in tests)


def seen(event: Event, match: Match | None) -> str:
    """What a watcher with this selector is told of the event: its type, or nothing."""
    if not match:
        return event.type
    after = event.type != "DELETED" and match(event.new.obj)
    before = event.old is not None and match(event.old.obj)
    if after:
        return "MODIFIED" if before else "ADDED"
    return "DELETED" if before else ""
