"""What a line of the log has of the message that it speaks of: job, tenant, attempt, cluster and the message's id,
under the same names everywhere."""

from contextvars import ContextVar
from typing import Any

import msgspec
from msgspec import Struct

from fairway.domain.decision import Call, Heard
from fairway.runtime.ports import Outgoing


class _Head(Struct):
    """What may stand in any message."""

    job: str = ""
    tenant: str = ""
    attempt: int = 0
    cluster: str = ""


# What a service acts for in this task. It is set for each call, and read only when something is logged.
ABOUT: ContextVar[tuple[Heard[Any], Call] | None] = ContextVar("fairway_about", default=None)
_head = msgspec.json.Decoder(_Head).decode
_NAMES = ("job", "tenant", "attempt", "cluster")


def heard_of(heard: Heard[Any]) -> dict[str, Any]:
    """Only what there is: a report has a cluster and no job."""
    return {"message_id": heard.id, **_of(heard.message)}


def said_of(message: Outgoing) -> dict[str, Any]:
    """Of one that is on its way out."""
    try:
        head = _of(_head(message.data))
    except msgspec.DecodeError:
        head = {}
    return {"message_id": message.id, **head}


def about_now() -> dict[str, Any]:
    """Of what is done at present, if that is known."""
    about = ABOUT.get()
    return heard_of(about[0]) | _of(about[1]) if about is not None else {}


def _of(message: object) -> dict[str, Any]:
    found = ((name, getattr(message, name, None)) for name in _NAMES)
    return {name: value for name, value in found if value}
