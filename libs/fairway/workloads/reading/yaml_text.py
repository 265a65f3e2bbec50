"""YAML as the Kubernetes API reads it, built from parser events so that nothing dangerous is ever composed.

Plain scalars mean what sigs.k8s.io/yaml makes of them (YAML 1.1 booleans; dates and sexagesimal numbers stay
text). Aliases, anchors, tags and merge keys are refused: they make a small text large, or hide what it says.
"""

import re
from typing import Any

import yaml

from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.reading.fields import shown

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,39})")
_BASED = re.compile(r"[-+]?(?:0x[0-9a-fA-F]{1,32}|0o?[0-7]{1,40}|0b[01]{1,64})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40}|[0-9]{1,40}(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?")
_MAY_BE_NUMBER = frozenset("+-.0123456789")


def refused(line: int | None, text: str, remedy: str) -> Refused:
    """A refusal of the text; `line` counts from 0."""
    place = "the text" if line is None else f"line {line + 1}"
    return Refused(Reason(Code.INVALID, f"{place} {text}", remedy=remedy))


def load_yaml(text: str, deepest: int) -> list[Any]:
    """The documents of a YAML text; an empty one is None."""
    try:
        return _Builder(deepest).run(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = str(error.problem or error.context)[:200]
        raise refused(
            mark.line if mark else None, f"is not YAML: {what}", "correct the indentation or quotes"
        ) from None
    except yaml.YAMLError as error:
        raise refused(None, f"is not YAML: {str(error).splitlines()[0][:200]}", "remove control characters") from None


class _Builder:
    """Builds values from events, with one open container per level and no recursion."""

    def __init__(self, deepest: int) -> None:
        self.deepest = deepest
        self.documents: list[Any] = []
        self.open: list[dict[str, Any] | list[Any]] = []
        self.keys: list[str | None] = []  # per open container: the key that waits for its value

    def run(self, text: str) -> list[Any]:
        loader = _Loader(text)
        try:
            while loader.check_event():
                self.event(loader.get_event())
        finally:
            loader.dispose()
        return self.documents

    def event(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self.plain(event)
            if self.open and isinstance(self.open[-1], dict) and self.keys[-1] is None:
                self.keys[-1] = self.key(event)
            else:
                self.put(scalar(event))
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self.start(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self.keys.pop()
            self.put(self.open.pop())
        elif isinstance(event, yaml.AliasEvent):
            raise refused(_line(event), f"uses the alias *{event.anchor}", "write the value out")

    def start(self, event: yaml.Event) -> None:
        self.plain(event)
        if len(self.open) >= self.deepest:
            raise refused(_line(event), f"is nested deeper than {self.deepest} levels", "flatten it")
        if self.open and isinstance(self.open[-1], dict) and self.keys[-1] is None:
            raise refused(_line(event), "has a key that is not a string", "use plain strings as keys")
        self.open.append({} if isinstance(event, yaml.MappingStartEvent) else [])
        self.keys.append(None)

    def plain(self, event: Any) -> None:
        if event.anchor is not None:
            raise refused(_line(event), f"sets the anchor &{event.anchor}", "write the value out where it is used")
        if event.tag not in (None, "!"):
            raise refused(_line(event), f"uses the tag {shown(event.tag)}", "remove the tag")

    def key(self, event: yaml.ScalarEvent) -> str:
        mapping = self.open[-1]
        if not isinstance(scalar(event), str):
            raise refused(_line(event), f"has the key {shown(event.value)}, which is not a string", "put it in quotes")
        if event.value == "<<" and event.implicit[0]:
            raise refused(_line(event), "uses a merge key", "write the keys out")
        if event.value in mapping:
            raise refused(_line(event), f"holds the key {shown(event.value)} a second time", "keep one of them")
        return str(event.value)

    def put(self, value: Any) -> None:
        if not self.open:
            self.documents.append(value)
        elif isinstance(container := self.open[-1], list):
            container.append(value)
        else:
            container[self.keys[-1] or ""] = value
            self.keys[-1] = None


def scalar(event: yaml.ScalarEvent) -> Any:
    """The value of a scalar: plain ones are resolved, quoted ones are text."""
    text = event.value
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _MAY_BE_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return _based(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _based(text: str) -> int:
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-").lower()
    base = {"x": 16, "o": 8, "b": 2}.get(digits[1], 8)
    return sign * int(digits.lstrip("0xob") or "0", base)


def _line(event: Any) -> int:
    return int(event.start_mark.line)
