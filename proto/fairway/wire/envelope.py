"""The head of every message about a job."""

from typing import ClassVar

from msgspec import Struct


class JobMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The head. `at` is in milliseconds since 1970; `cause` is the id of the message that led to this one."""

    job: str = ""
    tenant: str
    attempt: int = 0
    rev: int = 0
    at: int = 0
    cause: str = ""

    verb: ClassVar[str] = ""
