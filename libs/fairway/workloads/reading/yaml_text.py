"""YAML as the Kubernetes API reads it, built from parser events so that nothing dangerous is ever composed.

Plain scalars mean what sigs.k8s.io/yaml makes of them (YAML 1.1 booleans; dates and sexagesimal numbers stay
text). Tags are refused, and so are anchors, aliases and merge keys where they are not asked for: they make a small
text large, or hide what it says. Where they are, what is used twice counts twice for the size.
"""

import re
from copy import deepcopy
from typing import Any

import yaml
from msgspec import Struct

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
_MERGE = "<<"
_MAY_BE_NUMBER = frozenset("+-.0123456789")


def refused(line: int | None, text: str, remedy: str) -> Refused:
    """A refusal of the text; `line` counts from 0."""
    place = "the text" if line is None else f"line {line + 1}"
    return Refused(Reason(Code.INVALID, f"{place} {text}", remedy=remedy))


class Bounds(Struct, frozen=True):
    """How deep a text may be, and how large with all aliases written out (in bytes, roughly; 0: it may have none)."""

    deepest: int
    expanded: int = 0


class _Anchored(Struct):
    """What an alias stands for, how many bytes that is, and how many levels."""

    value: Any
    size: int
    levels: int


class _Open(Struct):
    """A container that is not closed yet: its value, the key that waits for its own, its anchor, how many bytes are in
    it by now and how many levels, and the mappings that are merged into it."""

    value: dict[str, Any] | list[Any]
    key: str | None = None
    anchor: str | None = None
    size: int = 2
    levels: int = 1
    merged: list[dict[str, Any]] | None = None


def load_yaml(text: str, bounds: Bounds) -> list[Any]:
    """The documents of a YAML text; an empty one is None."""
    try:
        return _Builder(bounds).run(text)
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

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.documents: list[Any] = []
        self.open: list[_Open] = []
        self.anchors: dict[str, _Anchored] = {}
        self.left = bounds.expanded

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
            one = _Anchored(scalar(event), len(event.value) + 3, 0)
            if self.waits_for_key():
                self.open[-1].key = self.key(event)
                if event.anchor is not None:
                    self.anchors[event.anchor] = one
            else:
                self.put(one, event.anchor, event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self.start(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            done = self.open.pop()
            self.put(_Anchored(_whole(done), done.size, done.levels), done.anchor, event)
        elif isinstance(event, yaml.AliasEvent):
            self.alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.anchors = {}

    def start(self, event: Any) -> None:
        self.plain(event)
        self.check_depth(1, event)
        if self.waits_for_key():
            raise refused(_line(event), "has a key that is not a string", "use plain strings as keys")
        self.open.append(_Open({} if isinstance(event, yaml.MappingStartEvent) else [], anchor=event.anchor))

    def plain(self, event: Any) -> None:
        if event.anchor is not None and not self.bounds.expanded:
            raise refused(_line(event), f"sets the anchor &{event.anchor}", "write the value out where it is used")
        if event.tag not in (None, "!"):
            raise refused(_line(event), f"uses the tag {shown(event.tag)}", "remove the tag")

    def alias(self, event: Any) -> None:
        """A copy, so that whoever changes one of them changes no other."""
        name = event.anchor
        if not self.bounds.expanded:
            raise refused(_line(event), f"uses the alias *{name}", "write the value out")
        if self.waits_for_key():
            raise refused(_line(event), f"uses the alias *{name} as a key", "write the key out")
        found = self.anchors.get(name)
        if found is None:
            inside = any(one.anchor == name for one in self.open)
            what = "inside of what it stands for" if inside else "which no anchor before it sets"
            raise refused(_line(event), f"uses the alias *{name} {what}", "write the value out")
        self.check_depth(found.levels, event)
        self.left -= found.size
        if self.left < 0:
            text = f"has more than {self.bounds.expanded} bytes with its aliases written out"
            raise refused(_line(event), text, "use fewer aliases, or split the file")
        self.put(_Anchored(deepcopy(found.value), found.size, found.levels), None, event)

    def check_depth(self, levels: int, event: Any) -> None:
        if len(self.open) + levels > self.bounds.deepest:
            raise refused(_line(event), f"is nested deeper than {self.bounds.deepest} levels", "flatten it")

    def waits_for_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1].value, dict) and self.open[-1].key is None

    def key(self, event: yaml.ScalarEvent) -> str:
        mapping = self.open[-1]
        if not isinstance(scalar(event), str):
            raise refused(_line(event), f"has the key {shown(event.value)}, which is not a string", "put it in quotes")
        if event.value == _MERGE and event.implicit[0]:
            if not self.bounds.expanded:
                raise refused(_line(event), "uses a merge key", "write the keys out")
            if mapping.merged is not None:
                raise refused(_line(event), "holds a merge key a second time", "merge a list of mappings")
            mapping.merged = []
        elif event.value in mapping.value:
            raise refused(_line(event), f"holds the key {shown(event.value)} a second time", "keep one of them")
        return str(event.value)

    def put(self, one: _Anchored, anchor: str | None, event: Any) -> None:
        if anchor is not None:
            self.anchors[anchor] = one
        if not self.open:
            self.documents.append(one.value)
            return
        into = self.open[-1]
        into.size += one.size + len(into.key or "")
        into.levels = max(into.levels, one.levels + 1)
        if isinstance(into.value, list):
            into.value.append(one.value)
        elif into.key == _MERGE and into.merged == []:
            into.merged = _mappings(one.value, event)
            into.key = None
        else:
            into.value[into.key or ""] = one.value
            into.key = None


def _mappings(value: Any, event: Any) -> list[dict[str, Any]]:
    found = value if isinstance(value, list) else [value]
    if not found or not all(isinstance(one, dict) for one in found):
        raise refused(_line(event), f"merges {shown(value)}, not a mapping", "merge mappings, as in '<<: *name'")
    return found


def _whole(one: _Open) -> Any:
    """With what is merged into it: what a mapping has itself counts, and of what is merged the first."""
    for more in one.merged or ():
        for key, value in more.items():
            one.value.setdefault(key, value)  # type: ignore[union-attr]  # only a mapping has a merge key
    return one.value


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
