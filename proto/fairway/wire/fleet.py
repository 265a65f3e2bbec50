"""What is said about clusters and about the fleet's own settings."""

from typing import Any, ClassVar

from msgspec import Raw, Struct, field

from fairway.wire.capacity import Node, Taint
from fairway.wire.envelope import Actor, Count
from fairway.wire.reasons import Reason


class FleetMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """`at` is in milliseconds since 1970."""

    at: int = 0

    verb: ClassVar[str] = ""


class Report(FleetMessage, frozen=True, kw_only=True, tag="report"):
    """From the agent of `cluster`. A `full` report lists every node; a delta only the changed ones and the `gone`.

    Nodes come with `used` and `attempts`; their `holds` are the reserver's to fill in. `sequence` counts up by one
    within an `epoch`; a gap means: ask for a full report. `cordoned`: no new work; `left`: it is no member any more,
    and whatever is known of its room is to be forgotten.
    """

    verb = "report"
    cluster: str
    epoch: str
    sequence: int
    full: bool = False
    nodes: tuple[Node, ...] = ()
    gone: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()
    kinds: tuple[str, ...] = ()
    kubernetes: str = ""
    holds: tuple[str, ...] = ()
    cordoned: bool = False
    left: bool = False
    mode: str = ""


class Freed(FleetMessage, frozen=True, kw_only=True, tag="freed"):
    """`cluster` has more room than before: `free` in all, `largest` the most that one node has of each. `count` is how
    often this has been said of the cluster, so that who looked before it can be told from who looked after. `labels`
    are the cluster's: whose policy selects others need not look. Nothing is free in one that has left the fleet.
    `ready` are jobs for whose claim room is kept there, all of which is free now."""

    verb = "freed"
    cluster: str
    free: dict[str, int] = {}
    largest: dict[str, int] = {}
    count: int = 0
    labels: dict[str, str] = {}
    ready: tuple[str, ...] = ()


class Strand(Struct, frozen=True):
    """One attempt with pods on a node that is away: `how` it is away, as the end of a sentence, and for how long.
    `namespace` is that of its pods."""

    job: str
    attempt: int
    node: str
    how: str
    seconds: int
    namespace: str = ""


class Stranded(FleetMessage, frozen=True, kw_only=True, tag="stranded"):
    """From the agent of `cluster`, with each heartbeat while it is so: pods of these attempts are still on nodes that
    have been away for longer than their operators were given to do something about it."""

    verb = "stranded"
    cluster: str
    attempts: tuple[Strand, ...]


class Shown(FleetMessage, frozen=True, kw_only=True, tag="shown"):
    """From the watcher: the status that a member's object of a job of the hub has now. `version` is the
    resourceVersion of that object there, by which the newest is known."""

    verb = "shown"
    job: str
    tenant: str
    attempt: Count
    cluster: str
    version: str
    status: dict[str, Any]


def _null() -> Raw:
    return Raw(b"null")


class Configured(FleetMessage, frozen=True, kw_only=True, tag="configured"):
    """A policy, PriorityClass, ElasticQuotaTree or Queue as the hub has it now, or a cluster as its agent introduces
    it; `manifest` null: deleted. (Raw cannot be one of several types for msgspec, so null is a manifest here.)"""

    verb = "configured"
    kind: str
    namespace: str = ""
    name: str
    manifest: Raw = field(default_factory=_null)
    who: Actor | None = None


class ConfigRefused(FleetMessage, frozen=True, kw_only=True, tag="config_refused"):
    """Such an object was not taken, and why; the last good one stays in force."""

    verb = "refused"
    kind: str
    namespace: str = ""
    name: str
    reasons: tuple[Reason, ...]


class DeadLetter(FleetMessage, frozen=True, kw_only=True, tag="dead_letter"):
    """A message that could not be handled: its id, where it came from, why, and its bytes (base64 in JSON). One that
    could not be published has no stream. Where only its beginning is kept, `size` and `sha256` are of all of it."""

    verb = "dlq"
    service: str
    subject: str
    id: str = ""
    stream: str = ""
    sequence: int = 0
    why: Reason
    data: bytes = b""
    who: Actor | None = None
    size: int = 0
    sha256: str = ""


class Audited(FleetMessage, frozen=True, kw_only=True, tag="audited"):
    """What `who` did to a `resource` at a door (`does` is the verb of Kubernetes' rules), or was not `allowed` to; so
    many `times` within some seconds. Who submits, changes or cancels jobs stands in the messages that do it."""

    verb = "audited"
    who: Actor
    does: str
    resource: str
    namespace: str = ""
    name: str = ""
    allowed: bool = True
    times: Count = 1


Message = Audited | Report | Freed | Stranded | Shown | Configured | ConfigRefused | DeadLetter
