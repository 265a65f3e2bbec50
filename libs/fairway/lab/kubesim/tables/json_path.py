"""The JSONPath of printer columns: fields, indices, slices, `*`, unions and filters, as kubectl's own has them.

A path is read once and found in many objects. What it does not understand finds nothing, as does what is not there.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

Step = Callable[[Any], Iterable[Any]]

_FIELD = re.compile(r"(?:\\.|[^.\[\]\\\s])+")
_SLICE = re.compile(r"(-?\d*):(-?\d*)(?::(\d*))?")
_QUOTED = re.compile(r"""'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)\"""")
_FILTER = re.compile(r"\?\(\s*@(?P<path>[^=!<>]*?)\s*(?:(?P<how>==|!=|<=|>=|<|>)\s*(?P<value>.+?)\s*)?\)")
_COMPARES: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda one, other: bool(one == other),
    "!=": lambda one, other: bool(one != other),
    "<": lambda one, other: bool(one < other),
    "<=": lambda one, other: bool(one <= other),
    ">": lambda one, other: bool(one > other),
    ">=": lambda one, other: bool(one >= other),
}


def compiled(path: str) -> tuple[Step, ...] | None:
    """The steps of a path; None for one that is not understood."""
    steps: list[Step] = []
    rest = path
    while rest:
        found = _bracket(rest) if rest.startswith("[") else _dotted(rest)
        if found is None:
            return None
        step, rest = found
        steps.append(step)
    return tuple(steps)


def found(obj: Any, steps: Iterable[Step]) -> list[Any]:
    at = [obj]
    for step in steps:
        at = [value for one in at for value in step(one)]
    return at


def _dotted(rest: str) -> tuple[Step, str] | None:
    if not rest.startswith("."):
        return None
    if rest.startswith(".["):
        return _bracket(rest[1:])
    if rest.startswith(".*"):
        return _every, rest[2:]
    match = _FIELD.match(rest, 1)
    if match is None:
        return None
    return _field(re.sub(r"\\(.)", r"\1", match.group())), rest[match.end() :]


def _bracket(rest: str) -> tuple[Step, str] | None:
    inner = _inside(rest)
    if inner is None:
        return None
    after = rest[len(inner) + 2 :]
    if inner == "*":
        return _every, after
    if inner.startswith("?"):
        step = _filter(inner)
    elif _QUOTED.fullmatch(inner):
        step = _field(_unquoted(inner))
    else:
        step = _union(inner)
    return (step, after) if step is not None else None


def _inside(rest: str) -> str | None:
    """What the bracket at the beginning holds; brackets and quotes in it are its own."""
    depth = 0
    quote = ""
    for at, letter in enumerate(rest):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "[]":
            depth += 1 if letter == "[" else -1
            if not depth:
                return rest[1:at]
    return None


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def _field(name: str) -> Step:
    return lambda value: [value[name]] if isinstance(value, dict) and name in value else []


def _every(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [value[name] for name in sorted(value)]
    return value if isinstance(value, list) else []


def _union(inner: str) -> Step | None:
    """`0`, `-1`, `0,2`, `-1:`, `0:2`."""
    steps = [_part(part.strip()) for part in inner.split(",")]
    known = [step for step in steps if step is not None]
    if len(known) < len(steps):
        return None
    return lambda value: [one for step in known for one in step(value)]


def _part(part: str) -> Step | None:
    if re.fullmatch(r"-?\d+", part):
        return lambda value: _at(value, int(part))
    if _QUOTED.fullmatch(part):
        return _field(_unquoted(part))
    match = _SLICE.fullmatch(part)
    if match is None:
        return None
    begin, end, by = (int(one) if one else None for one in match.groups())
    return lambda value: value[slice(begin, end, by or None)] if isinstance(value, list) else []


def _at(value: Any, index: int) -> list[Any]:
    if not isinstance(value, list) or not -len(value) <= index < len(value):
        return []
    return [value[index]]


def _filter(inner: str) -> Step | None:
    match = _FILTER.fullmatch(inner)
    steps = compiled(match["path"]) if match else None
    if match is None or steps is None:
        return None
    if match["how"] is None:
        return lambda value: [one for one in _listed(value) if found(one, steps)]
    compare = _COMPARES[match["how"]]
    wanted = _literal(match["value"])
    return lambda value: [one for one in _listed(value) if _holds(found(one, steps), compare, wanted)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _holds(values: list[Any], compare: Callable[[Any, Any], bool], wanted: Any) -> bool:
    try:
        return len(values) == 1 and type(values[0]) is type(wanted) and compare(values[0], wanted)
    except TypeError:
        return False


def _literal(text: str) -> Any:
    if _QUOTED.fullmatch(text):
        return _unquoted(text)
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return text
