"""The head of every message about a job, and the one message of that stream that is about none."""

from typing import ClassVar

from msgspec import Struct


class JobMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The head. `at` is in milliseconds since 1970; `cause` is the id of the message that led to this one; `epoch`
    tells in which working set an event was decided, by the place in the record where its rebuild began."""

    job: str = ""
    tenant: str
    attempt: int = 0
    rev: int = 0
    at: int = 0
    cause: str = ""
    epoch: int = 0

    verb: ClassVar[str] = ""


class Rebuild(JobMessage, frozen=True, kw_only=True, tag="rebuild"):
    """Of no job: `owner` makes a new working set from the record. Said where it begins, and once more when all is made,
    with the place where it had `begun`."""

    verb = "rebuild"
    tenant: str = ""
    owner: str
    begun: int = 0
