"""A cursor over untrusted input that notes every problem it meets instead of stopping at the first."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from fairway.wire.reasons import Code, Reason, Refused

# A hostile manifest can be wrong in a hundred thousand places; a person reads the first few.
MOST_REASONS = 20


class Problems:
    """The reasons found so far, each place and cause once."""

    __slots__ = ("_seen", "reasons")

    def __init__(self) -> None:
        self.reasons: list[Reason] = []
        self._seen: set[tuple[str, str]] = set()

    def __bool__(self) -> bool:
        return bool(self.reasons)

    def add(self, field: str, text: str, remedy: str, code: Code = Code.INVALID) -> None:
        if (field, text) in self._seen or len(self.reasons) >= MOST_REASONS:
            return
        self._seen.add((field, text))
        self.reasons.append(Reason(code=code, text=text, field=field, remedy=remedy))

    def stop(self) -> None:
        """Raise Refused when anything was noted."""
        if self.reasons:
            raise Refused(*self.reasons)


class Field(Struct, eq=False, gc=False):
    """One place in a manifest: its value (None when absent) and the way there.

    The readers return a harmless value after noting a problem, so that one pass finds every reason. A manifest has
    hundreds of places: a struct is made in a fourth of the time, and the collector has no look at it, for it points
    only upwards.
    """

    value: Any
    problems: Problems
    up: "Field | None" = None
    key: str | int = ""

    @property
    def path(self) -> str:
        """`spec.tasks[0].replicas`; keys that hold dots or slashes are quoted in brackets."""
        head = self.up.path if self.up is not None else ""
        if isinstance(self.key, int):
            return f"{head}[{self.key}]"
        if "." in self.key or "/" in self.key:
            return f"{head}['{self.key[:80]}']"
        return f"{head}.{self.key[:80]}" if head else self.key[:80]

    @property
    def way(self) -> tuple[str | int, ...]:
        """The keys from the whole object down to here."""
        return (*self.up.way, self.key) if self.up is not None else ()

    def __getitem__(self, key: str) -> "Field":
        value = self.value
        if type(value) is dict:
            return Field(value.get(key), self.problems, self, key)
        self.mapping()
        return Field(None, self.problems, self, key)

    def at(self, *keys: str | int) -> "Field":
        """The place some keys further down; an entry of a list that is known to be there by its index."""
        field = self
        for key in keys:
            field = field[key] if isinstance(key, str) else Field(field.value[key], field.problems, field, key)
        return field

    @property
    def given(self) -> bool:
        return self.value is not None

    def wrong(self, text: str, remedy: str, code: Code = Code.INVALID) -> None:
        self.problems.add(self.path, text, remedy, code)

    def mapping(self) -> dict[str, Any]:
        """The mapping here; empty when absent."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            self.wrong(f"is {shown(self.value)}, not a mapping", "write key: value pairs here")
            return {}
        return self.value

    def pairs(self) -> Iterator[tuple[str, "Field"]]:
        for key, value in self.mapping().items():
            yield key, Field(value, self.problems, self, key)

    def items(self, most: int | None = None) -> list["Field"]:
        """The places in the list here; empty when absent, and when there are more than `most`."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            self.wrong(f"is {shown(self.value)}, not a list", "write a list here")
            return []
        if most is not None and len(self.value) > most:
            self.wrong(f"has {len(self.value)} entries", f"use at most {most}")
            return []
        return [Field(value, self.problems, self, index) for index, value in enumerate(self.value)]

    def text(self, default: str = "") -> str:
        if self.value is None:
            return default
        if not isinstance(self.value, str):
            self.wrong(f"is {shown(self.value)}, not a string", "put it in quotes")
            return default
        return self.value

    def choice(self, default: str, *allowed: str) -> str:
        value = self.text(default)
        if value not in (default, *allowed):
            self.wrong(f"is {shown(value)}", f"use one of {', '.join(sorted({default, *allowed} - {''}))}")
            return default
        return value

    def flag(self, default: bool = False) -> bool:
        if self.value is None:
            return default
        if not isinstance(self.value, bool):
            self.wrong(f"is {shown(self.value)}, not true or false", "write true or false without quotes")
            return default
        return self.value

    def whole(self, default: int, least: int = 0, most: int = 2**31 - 1) -> int:
        """A whole number within bounds (both included); booleans and 3.0 are not whole numbers."""
        value = self.value
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(f"is {shown(value)}, not a whole number", f"write a number of {least} or more")
            return default
        if not least <= value <= most:
            self.wrong(f"is {shown(value)}", f"write a number from {least} to {most}")
            return default
        return value

    def strings(self) -> dict[str, str]:
        """A mapping of strings to strings."""
        return {key: field.text() for key, field in self.pairs()}

    def texts(self) -> tuple[str, ...]:
        """A list of strings."""
        return tuple(field.text() for field in self.items())


def read_root(manifest: dict[str, Any], api_version: str, kind: str) -> Field:
    """An object of the hub that has to be of this kind."""
    root = Field(manifest, Problems())
    if root["apiVersion"].value != api_version or root["kind"].value != kind:
        root["kind"].wrong(f"is no {kind}", f"use kind: {kind} of apiVersion: {api_version}")
    return root


def shown(value: object) -> str:
    """A value as it may stand in a sentence: short, and never a whole document."""
    if value is None:
        return "missing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value.bit_length() > 128:
        return "a number of more than 38 digits"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
