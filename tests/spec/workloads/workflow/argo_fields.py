"""The types of all fields of an Argo workflow, as Argo's own schema has them.

`python -m tests.spec.workloads.workflow.argo_fields` writes them down for schema.py.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairway.workloads.workflow import schema as workflow_shape
from tests.spec.workloads.published import source

OUT = Path(workflow_shape.__file__).with_name("fields.txt")
MODULE = "argo 3.6.5"
_ROOT = "io.argoproj.workflow.v1alpha1.WorkflowSpec"
# Types that decode themselves, or that the schema describes more widely than Go reads them.
_OWN = {
    "Amount": "number",
    "Quantity": "quantity",
    "Time": "time",
    "IntOrString": "intstr",
    "Item": "any",
    "Plugin": "plugin",
    "ParallelSteps": "[WorkflowStep",
    "FieldsV1": "object",
}
# Fields of AnyString, which takes everything (workflow_types.go).
_ANY = {("Parameter", name) for name in ("default", "value", "enum", "description")} | {("ValueFrom", "default")}
# Those of 64 bits by the formats of Argo's full CRD, where the schema says only that they are numbers.
_LONG = frozenset(
    (
        "activeDeadlineSeconds",
        "depth",
        "expirationSeconds",
        "fsGroup",
        "parallelism",
        "runAsGroup",
        "runAsUser",
        "seconds",
        "supplementalGroups",
        "terminationGracePeriodSeconds",
        "tolerationSeconds",
    )
)


def table() -> str:
    """A line for each type, `Name field:type ...`, in the order of their names."""
    known = json.loads((source(MODULE) / "api" / "jsonschema" / "schema.json").read_text())["definitions"]
    lines = []
    left = [_ROOT]
    seen = {_ROOT}
    while left:
        name = left.pop()
        fields = known[name].get("properties", {})
        short = _short(name)
        lines.append(" ".join((short, *(f"{key}:{_field(short, key, one)}" for key, one in sorted(fields.items())))))
        for found in _names(known[name]):
            if _short(found) not in _OWN.keys() - {"ParallelSteps"} and found not in seen:
                seen.add(found)
                left.append(found)
    lines = [line for line in lines if line.split(" ")[0] != "ParallelSteps"]
    assert len({line.split(" ")[0] for line in lines}) == len(lines)
    return "\n".join(sorted(lines)) + "\n"


def _short(name: str) -> str:
    """Argo's types by their own names, those of Kubernetes with `k8s.` before it."""
    own = name.rpartition(".")[2]
    return own if own in _OWN or ".argoproj." in name else f"k8s.{own}"


def _field(of: str, key: str, schema: dict[str, Any]) -> str:
    if (of, key) in _ANY:
        return "[any" if schema.get("type") == "array" else "any"
    found = _type(schema)
    return found.replace("int", "long") if key in _LONG and found.lstrip("[") == "int" else found


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = _short(schema["$ref"].rpartition("/")[2])
        return _OWN.get(name, name)
    match schema.get("type"):
        case "array":
            return "[" + _type(schema["items"])
        case "object":
            return "{" + _type(schema["additionalProperties"]) if "additionalProperties" in schema else "object"
        case "string":
            return "bytes" if schema.get("format") == "byte" else "string"
        case found:
            return {"boolean": "bool", "integer": "int"}[str(found)]


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            if key == "$ref":
                yield one.rpartition("/")[2]
            else:
                yield from _names(one)
    elif isinstance(value, list):
        for one in value:
            yield from _names(one)


if __name__ == "__main__":
    OUT.write_text(table())
