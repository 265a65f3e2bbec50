"""Where an event that is said again is not the recorded one, field by field."""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, structs

from fairway.domain.recorded_verdicts import scores, verdicts
from fairway.domain.text.decoding import decoder
from fairway.wire import jobs as wire
from fairway.wire.envelope import JobMessage
from fairway.wire.spec import Found

_written = decoder(Found)


def differences(said: JobMessage | None, again: JobMessage | None) -> dict[str, tuple[Any, Any]]:
    """Fields by name, where they are not the same: as recorded, and as said again."""
    if said is not None and again is not None and _same(said, again):
        return {}
    before = _fields(said)
    after = _fields(again)
    names = [*before, *(name for name in after if name not in before)]
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _same(said: JobMessage, again: JobMessage) -> bool:
    """Nearly always, and found at once."""
    if type(said) is not type(again):
        return False
    return _bare(said) == _bare(again) and _found(said) == _found(again)


def _bare(event: JobMessage) -> JobMessage:
    """The working set is stamped on an event when it goes out, and is not part of the decision."""
    if isinstance(event, wire.Placed | wire.Queue):
        return structs.replace(event, epoch=0, found=UNSET)
    return structs.replace(event, epoch=0)


def _found(event: JobMessage) -> bytes:
    found = getattr(event, "found", UNSET)
    return bytes(found) if isinstance(found, Raw) else b""


def _fields(event: JobMessage | None) -> dict[str, Any]:
    """Verdicts and scores by cluster, for the order of their columns says nothing."""
    if event is None:
        return {}
    flat = _plain(_bare(event))
    if not isinstance(event, wire.Placed | wire.Queue) or not isinstance(event.found, Raw):
        return flat
    flat["found.clusters"] = list(_written(event.found).clusters)
    for verdict in verdicts(event):
        flat |= {f"found.{verdict.cluster}.{name}": value for name, value in _plain(verdict).items()}
    for cluster, each in scores(event).items() if isinstance(event, wire.Placed) else ():
        flat |= {f"found.{cluster}.scores.{name}": value for name, value in each.items()}
    return flat


def _plain(one: Struct) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(one)
    return made
