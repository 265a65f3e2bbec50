"""The head of every message about a job, who asked for it, and the one message of that stream that is about none."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

# Numbers in the head come from anybody. A store's scripts count exactly up to 2^53, and no job has as many events or
# attempts as these: what says more does not decode, wherever it is read.
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Moment = Annotated[int, Meta(ge=0, le=2**53)]


class Actor(Struct, frozen=True, omit_defaults=True):
    """Who asked, as the door that let it in knows; what a client says of itself is not in it. `via` is the door: `http`
    (`user` as it was authenticated), `hub` (`hub:<namespace>`: a watch does not tell the user), `bus` (the tenant of
    the subject), `agent` (`cluster:<name>`), `operator` (who runs a command with the operator's credential, as their
    machine knows them), or a program that plays a door in a fleet of its own (`bench`, `replay`).
    `request` is the id of the request there: on the hub the uid of the object, on the bus the id of the message.
    `groups` are those of whom the hub has authenticated, where it is asked later what they may."""

    user: str
    via: str
    request: str = ""
    groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.user} ({_WAYS.get(self.via, f'by {self.via}')})"


_WAYS = {
    "http": "over HTTP",
    "hub": "on the hub",
    "bus": "on the bus",
    "agent": "by its agent",
    "operator": "with the operator's credential",
}


class JobMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The head. `at` is in milliseconds since 1970; `cause` is the id of the message that led to this one; `epoch`
    tells in which working set an event was decided, by the place in the record where its rebuild began."""

    job: str = ""
    tenant: str
    attempt: Count = 0
    rev: Count = 0
    at: Moment = 0
    cause: str = ""
    epoch: Moment = 0

    verb: ClassVar[str] = ""


class Rebuild(JobMessage, frozen=True, kw_only=True, tag="rebuild"):
    """Of no job: `owner` makes a new working set from the record. Said where it begins, and once more when all is made,
    with the place where it had `begun`."""

    verb = "rebuild"
    tenant: str = ""
    owner: str
    begun: Moment = 0
