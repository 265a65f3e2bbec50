"""What the service tells itself, and what its watches tell it; and all that it hears."""

from typing import Any

from msgspec import Struct

from fairway.hub.telling.bindings import Condition, Stamps
from fairway.wire import fleet
from fairway.wire import jobs as wire

SERVICE = "hub"


class SettingSeen(Struct, frozen=True, tag=True):
    """An object that sets something, as a watch shows it; what is `gone` is as it was last. `place` grows with what is
    seen: a message is heard more than once, and counts until there is a newer one."""

    kind: str
    manifest: dict[str, Any]
    gone: bool = False
    place: int = 0


class SettingsListed(Struct, frozen=True, tag=True):
    """All that was there of a kind has been told."""

    kind: str


class ComplaintsRead(Struct, frozen=True, tag=True):
    """Kind, namespace and name of every setting that the record says is refused."""

    keys: tuple[tuple[str, str, str], ...]


class TemplateSeen(Struct, frozen=True, tag=True):
    """An object in which parts of jobs stand, likewise."""

    kind: str
    manifest: dict[str, Any]
    gone: bool = False
    place: int = 0


class ObjectSeen(Struct, frozen=True, tag=True):
    """An object of a job kind, likewise."""

    kind: str
    manifest: dict[str, Any]
    gone: bool = False
    place: int = 0


class ObjectsListed(Struct, frozen=True, tag=True):
    """Of every job kind all that was there has been told."""


class RunsListed(Struct, frozen=True, tag=True):
    """Of a kind of which schedules make runs all that was there has been told."""

    kind: str


class BindingSeen(Struct, frozen=True, tag=True):
    """A ResourceBinding that is there: the uid of the object that it belongs to, what it says, since when, and what of
    its owner's last change."""

    namespace: str
    name: str
    owner: str
    digest: str
    stamps: Stamps
    change: Condition | None = None


class BindingsListed(Struct, frozen=True, tag=True):
    """All ResourceBindings that are there have been told, if the hub has served the kind by now."""

    served: bool = True


class ScheduleSeen(Struct, frozen=True, tag=True):
    """An object that makes jobs at set times, likewise."""

    kind: str
    manifest: dict[str, Any]
    gone: bool = False
    place: int = 0


class Tend(Struct, frozen=True, tag=True):
    """Whether a run of that schedule is to be made is to be looked at, at that time (ms). One of a higher `number`
    takes its place."""

    uid: str
    at: int
    number: int


class Turn(Struct, frozen=True, tag=True):
    """Objects are to be submitted: those that nothing is awaited for, in turn of their tenants."""


class Resubmit(Struct, frozen=True, tag=True):
    """The job of that object was refused, and is to be submitted anew."""

    uid: str


class Wish(Struct, frozen=True, tag=True):
    """Whether the object of that uid says what its job says is to be looked at on the hub itself; of `templates` only
    if what it refers to has changed while the job waits."""

    uid: str
    templates: bool = False


class Show(Struct, frozen=True, tag=True):
    """The status of that object is to be written."""

    uid: str


class Tell(Struct, frozen=True, tag=True):
    """The owner of that object is to be told of its job: by Events, and in its ResourceBinding. `at` is for when it was
    meant (ms): one that is meant for sooner takes its place."""

    uid: str
    at: int = 0


class Unbind(Struct, frozen=True, tag=True):
    """That ResourceBinding belongs to an object that is no more."""

    namespace: str
    name: str
    owner: str


class Orphan(Struct, frozen=True, tag=True):
    """The object of that job may have been deleted while nobody looked."""

    job: str


Watched = (
    SettingSeen
    | SettingsListed
    | ComplaintsRead
    | TemplateSeen
    | ObjectSeen
    | ObjectsListed
    | RunsListed
    | BindingSeen
    | BindingsListed
    | ScheduleSeen
)
Own = Turn | Resubmit | Wish | Show | Tell | Unbind | Orphan | Tend
# Of the record: what is said of jobs, and what the members show of them.
OfJobs = (
    wire.Rejected
    | wire.Queue
    | wire.Blocked
    | wire.Placed
    | wire.Dispatched
    | wire.Running
    | wire.Failed
    | wire.Lost
    | wire.Evicted
    | wire.Nominated
    | wire.Unclaimed
    | wire.Cancelled
    | wire.Succeeded
    | wire.Amended
    | wire.Unchanged
    | wire.Held
)
Hears = OfJobs | fleet.Shown | Watched | Own
