"""The OpenAPI document of the door, made from its route table and the Structs that it reads and writes."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fairway.gateway.problem import ProblemBody


class Parameter(Struct, frozen=True):
    name: str
    text: str
    place: str = "query"


class Operation(Struct, frozen=True):
    """`gives` maps a status to the Structs its body may be (none: not JSON). `problems` are the other statuses."""

    method: str
    path: str
    text: str
    gives: dict[int, tuple[Any, ...]]
    parameters: tuple[Parameter, ...] = ()
    problems: tuple[int, ...] = ()
    body: Any = None


_TITLES = {
    200: "done", 202: "accepted", 400: "the request is wrong", 404: "there is no such job", 409: "used before",
    413: "too large", 415: "not a type that is read here", 422: "refused, with every reason",
    429: "too much for this tenant now", 503: "try again soon",
}  # fmt: skip


def document(operations: Sequence[Operation], version: str) -> dict[str, Any]:
    bodies = [one for op in operations for some in (*op.gives.values(), (op.body,)) for one in some if one]
    types = list(dict.fromkeys([*bodies, ProblemBody]))
    refs, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(types, refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for op in operations:
        paths.setdefault(op.path, {})[op.method.lower()] = _operation(op, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Fairway", "version": version, "license": {"name": "Apache-2.0"}},
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(op: Operation, schemas: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {"summary": op.text, "responses": {}}
    named = [part[1:-1] for part in op.path.split("/") if part.startswith("{")]
    places = [Parameter(name, "its id", "path") for name in named] + list(op.parameters)
    if places:
        said["parameters"] = [
            {
                "name": one.name, "in": one.place, "description": one.text, "required": one.place == "path",
                "schema": {"type": "string"},
            }
            for one in places
        ]  # fmt: skip
    if op.body is not None:
        content = {"application/json": {"schema": schemas[op.body]}, "application/yaml": {"schema": {"type": "string"}}}
        said["requestBody"] = {"required": True, "content": content}
    for status, some in op.gives.items():
        any_of = [schemas[one] for one in some]
        schema = any_of[0] if len(any_of) == 1 else {"anyOf": any_of}
        content = {"application/json": {"schema": schema}} if some else {"text/event-stream": {}}
        said["responses"][str(status)] = {"description": _TITLES[status], "content": content}
    for status in op.problems:
        content = {"application/problem+json": {"schema": schemas[ProblemBody]}}
        said["responses"][str(status)] = {"description": _TITLES[status], "content": content}
    return said
