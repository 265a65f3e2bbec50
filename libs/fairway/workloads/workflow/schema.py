"""Whether Argo's controller can read a workflow.

The CRD of a Workflow keeps whatever is written. One that does not decode into Argo's types stops the controller at its
next start, for everybody: it lists workflows by its own labels, and ends when one of them is not to be read. So each
field has to be of its type (fields.txt, from the schema of Argo 3.6), and nobody but the controller writes the
labels that it lists by.
"""

import re
from collections.abc import Callable
from datetime import date
from importlib.resources import files
from typing import Any

from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.spelling import read_as
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, shown

# Go knows the digits of ASCII alone, and no more of the hours of a day than there are.
_QUANTITY = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,3})?", re.ASCII)
_HOUR = r"([01]\d|2[0-3]):[0-5]\d"
_TIME = re.compile(rf"(\d{{4}}-\d{{2}}-\d{{2}})T{_HOUR}:[0-5]\d(\.\d{{1,9}})?(Z|[+-]{_HOUR})", re.ASCII)
_BYTES = re.compile(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def _table() -> dict[str, dict[str, str]]:
    text = files(__package__).joinpath("fields.txt").read_text()
    rows = (line.split(" ") for line in text.splitlines())
    return {name: dict(one.split(":", 1) for one in fields) for name, *fields in rows}


_TYPES = _table()
# As decoders that mind no case read a name.
_FOLDED = {name: {key.casefold(): key for key in fields} for name, fields in _TYPES.items()}


def _whole(bits: int) -> Callable[[Any], bool]:
    limit = 2 ** (bits - 1)
    return lambda value: type(value) is int and -limit <= value < limit


def _text(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: type(value) is str and pattern.fullmatch(value) is not None


def _time(value: Any) -> bool:
    """As Go's RFC3339, with a day that its month has."""
    if type(value) is not str or not (found := _TIME.fullmatch(value)):
        return False
    try:
        date.fromisoformat(found[1])
    except ValueError:
        return False
    return True


_32 = _whole(32)
# What is read, in words, and whether a value is that.
_SCALARS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a string", lambda value: type(value) is str),
    "bool": ("true or false", lambda value: type(value) is bool),
    "int": ("a whole number of 32 bits", _32),
    "long": ("a whole number of 64 bits", _whole(64)),
    "number": ("a number", lambda value: type(value) in (int, float)),
    "intstr": ("a whole number or a string", lambda value: type(value) is str or _32(value)),
    "quantity": ("a quantity", lambda value: type(value) in (int, float) or _text(_QUANTITY)(value)),
    "time": ("a time such as 2026-01-31T08:00:00Z", _time),
    "bytes": ("base64", _text(_BYTES)),
    "object": ("a mapping", lambda value: type(value) is dict),
    "plugin": ("a mapping of one key", lambda value: type(value) is dict and len(value) == 1),
    "any": ("anything", lambda value: True),
}


def check_shape(spec: Field) -> None:
    """Notes every field that Argo would not read."""
    left: list[tuple[Field, str]] = [(spec, "WorkflowSpec")]
    while left:
        field, kind = left.pop()
        value = field.value
        if value is None:
            continue
        if known := _SCALARS.get(kind):
            if not known[1](value):
                _unread(field, known[0])
        elif kind[0] == "[":
            if type(value) is list:
                left += [(one, kind[1:]) for one in field.items()]
            else:
                _unread(field, "a list")
        elif type(value) is not dict:
            _unread(field, "a mapping")
        elif kind[0] == "{":
            left += [(one, kind[1:]) for _, one in field.pairs()]
        else:
            _fields(field, kind, left)


def _fields(field: Field, kind: str, left: list[tuple[Field, str]]) -> None:
    types = _TYPES[kind]
    folded = _FOLDED[kind]
    for key, one in field.pairs():
        if key in types:
            left.append((one, types[key]))
        elif key.casefold() in folded:
            one.wrong(*read_as(folded[key.casefold()]))
        elif kind == "WorkflowStep":  # which alone may hold no fields that Argo does not know
            one.wrong("is not a field of a step, and stops Argo's controller", "correct or remove it")


def _unread(field: Field, wanted: str) -> None:
    field.wrong(f"is {shown(field.value)} where Argo's controller reads {wanted}", f"write {wanted}")


# What the controller says of a workflow and of its pods, and lists them by (workflow/common/common.go).
_PREFIX = "workflows.argoproj.io/"
_CONTROLLERS = frozenset(
    (
        "artifact-gc-pod",
        "artifact-gc-strategy",
        "completed",
        "component",
        "cron-workflow",
        "node-id",
        "node-name",
        "node-start-time",
        "node-type",
        "on-exit",
        "phase",
        "pod-gc-strategy",
        "rbac-rule",
        "rbac-rule-precedence",
        "report-outputs-completed",
        "resubmitted-from-workflow",
        "scheduled-time",
        "service-account-token.name",
        "workflow",
        "workflow-archiving-status",
        "workflow-event-binding",
        "workflow-name",
        "workflow-uid",
    )
)


def controllers_own(key: str) -> bool:
    """Whether Argo's controller alone writes this label or annotation."""
    return key.startswith(_PREFIX) and key.removeprefix(_PREFIX) in _CONTROLLERS


# Of which schedule a workflow is a run, and for when: who says so wrongly misleads nobody but himself.
_OF_RUN = frozenset((f"{_PREFIX}cron-workflow", f"{_PREFIX}scheduled-time"))


def check_marks(mapping: Field, ruling: Ruling) -> None:
    """Labels or annotations of the workflow itself."""
    for key, value in mapping.pairs():
        if controllers_own(key) and key not in _OF_RUN:
            ruling.never(PodView(value), "only Argo's controller writes it, and goes by it", "remove it")
