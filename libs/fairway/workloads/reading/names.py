"""Names and labels, checked as Kubernetes does: one that passes is safe in a subject and in a key."""

import re

from fairway.domain.quota.tree import listed
from fairway.workloads.reading.fields import Field, shown

# RFC 1123 as apimachinery/pkg/util/validation applies it. All are used with fullmatch: `$` would let a
# trailing newline through.
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_SERVICE = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_TITLE = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")

OURS = "fairway.io/"


def is_namespace(text: str) -> bool:
    return _LABEL.fullmatch(text) is not None


def is_name(text: str, most: int = 253) -> bool:
    return len(text) <= most and _SUBDOMAIN.fullmatch(text) is not None


def is_label_value(text: str) -> bool:
    return _VALUE.fullmatch(text) is not None


def is_label_key(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    return _TITLE.fullmatch(name) is not None and (not slash or is_name(prefix))


def read_name(field: Field, most: int = 63, service: bool = False) -> str:
    """A required object name. `service`: the kind makes a Service of it, so no dot and a letter first."""
    name = field.text()
    if not name:
        field.wrong("is missing", "name the object")
    elif len(name) > most:
        field.wrong(f"has {len(name)} characters, more than {most}", f"shorten it to {most}")
    elif service and not _SERVICE.fullmatch(name):
        field.wrong(
            f"{shown(name)} cannot name a Service, which this kind makes of it",
            "use lower-case letters, digits and -, a letter first, a letter or digit last",
        )
    elif not is_name(name):
        field.wrong(
            f"{shown(name)} is not an object name (RFC 1123)",
            "use lower-case letters, digits, - and ., a letter or digit first and last",
        )
    return name


def read_namespace(field: Field, default: str = "default") -> str:
    """A namespace; absent means `default`, as for kubectl."""
    namespace = field.text(default)
    if not is_namespace(namespace):
        field.wrong(
            f"{shown(namespace)} is not a namespace name (RFC 1123 label)",
            "use at most 63 lower-case letters, digits and -, a letter or digit first and last",
        )
        return default
    return namespace


def read_listed(field: Field) -> tuple[str, ...]:
    """Names of namespaces in one text, separated by commas."""
    names = listed(field.text())
    for name in names:
        if not is_namespace(name):
            field.wrong(f"{shown(name)} is not a namespace name", "write names of namespaces, separated by commas")
    return names


def check_labels(field: Field) -> None:
    """Labels that Kubernetes would take and that are not Fairway's own."""
    for key, value in field.pairs():
        if key.startswith(OURS):
            value.wrong("only Fairway sets labels under fairway.io/", "remove this label")
        elif not is_label_key(key):
            value.wrong(f"{shown(key)} is not a label key", "use [prefix/]name, the name at most 63 characters")
        if not is_label_value(value.text()):
            value.wrong(
                f"{shown(value.value)} is not a label value",
                "use at most 63 letters, digits, -, _ and ., a letter or digit first and last",
            )


def check_annotations(field: Field, ours: frozenset[str]) -> None:
    """Annotations are free text; under fairway.io/ only documented ones, lest a typing error pass."""
    for key, value in field.pairs():
        if key.startswith(OURS) and key not in ours:
            known = ", ".join(sorted(ours)) or "none on this object"
            value.wrong("is not an annotation Fairway knows here", f"remove it; known are: {known}")
        value.text()
