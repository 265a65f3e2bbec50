"""What is asked of the hub, as values; hub_writes.py does it. What comes of a call is of the type that its verb has in
`BODIES`: only that is kept for a replay."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from fairway.domain.decision import Heard
from fairway.workloads.hub.objects import HubObject

Json = dict[str, Any]

EVENT = "event"
CONDITION = "condition"
STATUS = "status"
RESET = "reset"
BIND = "bind"
UNBIND = "unbind"
LOOK = "look"
MANIFEST = "manifest"
RUN = "run"
# An outcome of a call that was made, and that the hub did not take.
NOT_TAKEN = "NotTaken"
# A run of that name is there, made by the controller of its schedule.
THERE = "There"
# The kind's definition has no status subresource, or the hub does not serve it.
NO_STATUS = "NoStatus"
NOT_SERVED = "NotServed"


class ConditionWrite(Struct, frozen=True):
    """The condition Ready of a setting, only onto the object as it was looked at."""

    one: HubObject
    condition: Json


class Place(Struct, frozen=True):
    """An object of the hub; another `uid` under the same name is another object. `seen` is the place of what a watch
    had shown of it when it was asked for."""

    kind: str
    namespace: str
    name: str
    uid: str
    seen: int = 0


class StatusWrite(Struct, frozen=True):
    """The whole status of a job's object."""

    place: Place
    status: Json


class BindingWrite(Struct, frozen=True):
    """A ResourceBinding as a whole; it is `known` that there is one of that name."""

    manifest: Json
    known: bool


class RunWrite(Struct, frozen=True):
    """The run of a schedule that was meant for `at` (ms), if one is to be made, and the names of those of the kind
    `run` that go. `status` is what of the schedule's own changes then, in its subresource `part`."""

    place: Place
    run: str
    manifest: Json | None
    drop: tuple[str, ...]
    status: Json
    part: str
    at: int | None


class FoundObject(Struct, frozen=True):
    """What the hub has under a name: nothing without a manifest. It `served` the kind. What a watch has shown since it
    was asked for, at a later place than `seen`, may be newer."""

    manifest: Json | None = None
    served: bool = True
    seen: int = 0


# What a call brings, where it brings anything.
BODIES: Mapping[str, Any] = {
    EVENT: None,
    CONDITION: None,
    # What is shown instead, where it was not taken; None: the object is another one by now, or gone.
    STATUS: Json | None,
    RESET: None,
    BIND: None,
    UNBIND: None,
    LOOK: FoundObject | None,
    MANIFEST: Json | None,
    RUN: None,
}


def failed(heard: Heard[object]) -> bool:
    """Whether a call that was made for it did not reach the hub."""
    return any(not one.ok for one in heard.outcomes)
