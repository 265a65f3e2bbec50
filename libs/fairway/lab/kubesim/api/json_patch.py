"""JSON merge patch (RFC 7386) and JSON patch (RFC 6902)."""

from typing import Any

from fairway.lab.kubesim.api.errors import ApiError, Json


def merge(target: Any, patch: Any) -> Any:
    """RFC 7386: null removes, objects merge, everything else replaces. `target` is changed in place."""
    if not isinstance(patch, dict):
        return patch
    if not isinstance(target, dict):
        target = {}
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        else:
            target[key] = merge(target.get(key), value)
    return target


def json_patch(target: Json, operations: list[Json]) -> Json:
    """RFC 6902 on `target`, which is changed in place; 422 when an operation cannot be done."""
    root: list[Any] = [target]
    for number, operation in enumerate(operations):
        try:
            _operate(root, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            text = f"the server rejected our request: operation {number} cannot be done: {error}"
            raise ApiError(422, "Invalid", text) from None
    result: Json = root[0]
    return result


def _operate(root: list[Any], operation: Json) -> None:
    verb = operation["op"]
    path = _path(operation["path"])
    if verb == "test":
        if _read(root, path) != operation["value"]:
            raise ValueError(f"testing {operation['path']} failed")
        return
    if verb in ("add", "replace"):
        value = operation["value"]
    elif verb in ("copy", "move"):
        value = _read(root, _path(operation["from"]))
        if verb == "move":
            _remove(root, _path(operation["from"]))
    elif verb == "remove":
        _remove(root, path)
        return
    else:
        raise ValueError(f"unknown op {verb!r}")
    if verb == "replace":
        _read(root, path)
    _write(root, path, value, insert=verb != "replace")


def _path(text: str) -> list[str]:
    # The leading empty step is the document itself: `root` is a list with it as the only item.
    steps = text.split("/")
    if steps[0] != "":
        raise ValueError(f"path {text!r} does not start with /")
    return ["0", *(step.replace("~1", "/").replace("~0", "~") for step in steps[1:])]


def _read(root: Any, path: list[str]) -> Any:
    for step in path:
        root = root[int(step)] if isinstance(root, list) else root[step]
    return root


def _write(root: Any, path: list[str], value: Any, insert: bool) -> None:
    parent = _read(root, path[:-1])
    last = path[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif last == "-":
        parent.append(value)
    elif insert and len(path) > 1:
        parent.insert(int(last), value)
    else:
        parent[int(last)] = value


def _remove(root: Any, path: list[str]) -> None:
    parent = _read(root, path[:-1])
    if isinstance(parent, list):
        del parent[int(path[-1])]
    else:
        del parent[path[-1]]
