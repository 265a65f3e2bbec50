"""The OpenAPI document of the door, made from its route table and the Structs that it reads and writes."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fairway.gateway.callers.caller import Right
from fairway.gateway.http.problem import ProblemBody


class Parameter(Struct, frozen=True):
    """Of the query, or of another `place`; `values` are all that it may be, none: its route judges that."""

    name: str
    text: str
    place: str = "query"
    values: tuple[str, ...] = ()


class Operation(Struct, frozen=True):
    """`right` is what its caller must be allowed. `gives` maps a status to the Structs its body may be (none: not
    JSON). `problems` are the other statuses, besides those that every route has."""

    method: str
    path: str
    right: Right
    text: str
    gives: dict[int, tuple[Any, ...]]
    parameters: tuple[Parameter, ...] = ()
    problems: tuple[int, ...] = ()
    body: Any = None


# Every route may answer with these: to a parameter that it does not act on, to anybody at all, to somebody who may not
# do this.
_EVERYWHERE = (400, 401, 403, 429, 503)
_TITLES = {
    200: "done",
    202: "accepted",
    400: "the request is wrong",
    401: "no caller, or no good token",
    403: "the caller may not do this",
    404: "there is no such job that the caller may see",
    408: "no body in time",
    409: "used before, or not submitted yet",
    410: "begin the list again",
    413: "too large",
    415: "not a type that is read here",
    422: "refused, with every reason",
    429: "too much for this caller or tenant now",
    503: "try again soon",
}
_SECURITY = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "a token that the hub knows: of its own API, or of the audience `fairway`; or a key of the "
        "gateway's key file",
    }
}


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
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": _SECURITY},
    }


def _operation(op: Operation, schemas: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {"summary": op.text, "description": f"Needs: {op.right}.", "responses": {}}
    named = [part[1:-1] for part in op.path.split("/") if part.startswith("{")]
    places = [Parameter(name, "its id", "path") for name in named] + list(op.parameters)
    if places:
        said["parameters"] = [
            {
                "name": one.name,
                "in": one.place,
                "description": one.text,
                "required": one.place == "path",
                "schema": {"type": "string", **({"enum": list(one.values)} if one.values else {})},
            }
            for one in places
        ]
    if op.body is not None:
        content = {"application/json": {"schema": schemas[op.body]}, "application/yaml": {"schema": {"type": "string"}}}
        said["requestBody"] = {"required": True, "content": content}
    for status, some in op.gives.items():
        any_of = [schemas[one] for one in some]
        schema = any_of[0] if len(any_of) == 1 else {"anyOf": any_of}
        content = {"application/json": {"schema": schema}} if some else {"text/event-stream": {}}
        said["responses"][str(status)] = {"description": _TITLES[status], "content": content}
    for status in sorted({*op.problems, *_EVERYWHERE}):
        content = {"application/problem+json": {"schema": schemas[ProblemBody]}}
        said["responses"][str(status)] = {"description": _TITLES[status], "content": content}
    return said
