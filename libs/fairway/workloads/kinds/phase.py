"""What the status of a member's object means, and how the statuses of most kinds are read."""

from msgspec import Struct

from fairway.workloads.reading.fields import Field

PENDING = "pending"
RUNNING = "running"
SUCCEEDED = "succeeded"
FAILED = "failed"
UNKNOWN = "unknown"


class Phase(Struct, frozen=True):
    """What a member cluster's status means. `state` is pending, running (the gang is up), succeeded, failed or unknown
    (says nothing either way). `left`: it is over, and some of its pods still run. `missing` are the pods, of as many as
    there `are_to_be`, that a running job of a kind lacks whose pods come and go."""

    state: str
    text: str = ""
    left: bool = False
    missing: int = 0
    are_to_be: int = 0


def condition(status: Field, kind: str) -> Field | None:
    """The entry of status.conditions of this type whose status is "True"."""
    for entry in status["conditions"].items():
        if entry["type"].value == kind and entry["status"].value in ("True", True):
            return entry
    return None


def told(*fields: Field) -> str:
    """What these say, for a sentence: operators write them, and none is believed to be text."""
    return ": ".join(one.value for one in fields if isinstance(one.value, str) and one.value)[:500]


def said(entry: Field, fallback: str) -> str:
    """A condition's own words: `reason: message`."""
    return told(entry["reason"], entry["message"]) or fallback


def count(field: Field) -> int:
    """A number in a status: operators write it, so a strange one counts as 0 instead of failing the watch."""
    value = field.value
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def by_conditions(status: Field, **ends: str) -> Phase | None:
    """Of a status whose conditions say that it ended or is suspended; `ends` are states by the type of a condition,
    which a JobSet also names as its terminalState."""
    for type_, state in ends.items():
        entry = condition(status, type_)
        if entry or status["terminalState"].value == type_:
            return Phase(state, said(entry, type_) if entry else type_)
    return Phase(PENDING, "suspended in the member cluster") if condition(status, "Suspended") else None


def by_count(up: int, wanted: int, what: str = "pods") -> Phase:
    """Running when as many are up as there have to be."""
    return Phase(RUNNING if up >= wanted else PENDING, f"{up} of {wanted} {what} are up")
