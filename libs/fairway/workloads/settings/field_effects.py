"""Of a setting: which of its fields are not known, and which are known and have no effect; of a job the latter. Pure.

Unknown ones are looked for where settings come in and nowhere else: what an earlier version has let in stays in force.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from fairway.wire.reasons import Code, Reason
from fairway.workloads.reading.fields import MOST_REASONS, Field, Problems
from fairway.workloads.settings import companion_selectors, queues
from fairway.workloads.settings.known_fields import KNOWN, UNKNOWN, Fields, Meaning, NotActedOn
from fairway.workloads.settings.policies import is_policy

# What says nothing, whatever the field.
_EMPTY: tuple[object, ...] = (None, {}, [], "")


class NoEffect(Struct, frozen=True):
    """A field that changes nothing, and what holds instead; `more` others of the object are in vain like this one."""

    field: str
    text: str
    more: int = 0

    def __str__(self) -> str:
        others = f" and {self.more} more" if self.more else ""
        return f"{self.field}{others} ({self.text})"


def unknown_fields(manifest: Mapping[str, Any]) -> tuple[Reason, ...]:
    """Each with the names that are known beside it; of a value that asks for nothing there is nothing to say."""
    reasons = []
    for field, fields in _walk(_root(manifest), _table(manifest)):
        if isinstance(fields, NotActedOn) or field.value is False:
            continue
        known = ", ".join(name for name in fields if "*" not in name)
        reasons.append(
            Reason(Code.INVALID, "is not a known field", field.path, f"correct or remove it; known: {known}")
        )
        if len(reasons) == MOST_REASONS:
            break
    return tuple(reasons)


def without_effect(manifest: Mapping[str, Any]) -> tuple[NoEffect, ...]:
    """In the order of the object; fields that are in vain for the same reason are one, under the first of them."""
    found: dict[tuple[str, str], NoEffect] = {}
    for field, text in _in_vain(manifest):
        first = found.get((str(field.key), text))
        one = NoEffect(first.field, text, first.more + 1) if first else NoEffect(field.path, text)
        found[str(field.key), text] = one
    return tuple(found.values())


def _in_vain(manifest: Mapping[str, Any]) -> Iterator[tuple[Field, str]]:
    if is_policy(manifest):
        yield from companion_selectors.without_effect(_root(manifest)["spec"])
    if manifest.get("kind") == queues.KIND and manifest.get("apiVersion") == queues.API_VERSION:
        yield from queues.without_effect(_root(manifest)["spec"])
    for field, meaning in _walk(_root(manifest), _table(manifest)):
        if isinstance(meaning, NotActedOn):
            yield field, meaning.text


def said_of(manifest: Mapping[str, Any]) -> str:
    """The end of a sentence that says that the object is in force; empty when all of it has its effect."""
    found = without_effect(manifest)
    more = f"; and {len(found) - MOST_REASONS} more" if len(found) > MOST_REASONS else ""
    return f"; without effect: {'; '.join(map(str, found[:MOST_REASONS]))}{more}" if found else ""


def warnings(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The same for whoever sets the object."""
    return tuple(f"without effect: {one}" for one in without_effect(manifest)[:MOST_REASONS])


def _root(manifest: Mapping[str, Any]) -> Field:
    return Field(manifest, Problems())


def _table(manifest: Mapping[str, Any]) -> Fields:
    """Empty for what is no setting with a table."""
    return KNOWN.get(f"{manifest.get('kind')}.{manifest.get('apiVersion')}", {"*": Meaning.READ})


def _walk(field: Field, fields: Fields) -> Iterator[tuple[Field, NotActedOn | Fields]]:
    """The fields of an object that nothing acts on, and those that are not known, these with what is known there."""
    if isinstance(field.value, list):
        for entry in field.items():
            yield from _walk(entry, fields)
    elif isinstance(field.value, dict):
        for key, entry in field.pairs():
            meaning = _meaning(str(key), fields)
            if entry.value in _EMPTY or meaning is Meaning.READ:
                continue
            if meaning is UNKNOWN:
                yield entry, fields
            elif not isinstance(meaning, NotActedOn):
                yield from _walk(entry, meaning)
            elif meaning.of(entry.value):
                yield entry, meaning


def _meaning(key: str, fields: Fields) -> Any:
    """Of one key: its own, that of its prefix, or that of all others."""
    if (own := fields.get(key)) is not None:
        return own
    prefixed = fields.get(f"{key.partition('/')[0]}/*") if "/" in key else None
    return prefixed if prefixed is not None else fields.get("*", UNKNOWN)
