"""What the queue decides on, and what it tells itself."""

from collections.abc import Mapping
from typing import Protocol

from fairway.domain.events import JobRows
from fairway.domain.policy_terms import Changed
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.charge import Share
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.profile import Tenancy
from fairway.queue.policy_changes import Policies
from fairway.queue.preemption.active_jobs import ActiveJobs
from fairway.queue.waiting.waiting_jobs import WaitingJobs
from fairway.wire import jobs as wire
from fairway.wire.fleet import FleetMessage, Freed

SERVICE = "queue"
_Ends = wire.Succeeded | wire.Cancelled | wire.Failed | wire.Lost
_OfClaims = wire.Nominated | wire.Unclaimed
OfJobs = wire.Queue | wire.Reserved | wire.Removed | wire.Cancel | wire.HoldJob | wire.Revised | _OfClaims | _Ends
# The reason of a turn that only looks whether anybody was forgotten.
SWEEP = "sweep"
SWEEP_EVERY_MS = 10_000
PATIENCE_EVERY_MS = 500


class QueueBegins(FleetMessage, frozen=True, kw_only=True, tag="begin"):
    """Local: the queue starts on a working set."""


class Sweep(FleetMessage, frozen=True, kw_only=True, tag="sweep"):
    """Local: look whether anybody was forgotten, or stands otherwise than the record says."""


class Patience(FleetMessage, frozen=True, kw_only=True, tag="patience"):
    """Local: look for whom others may be evicted now, and for claims that have taken too long."""


Hears = OfJobs | Freed | Changed | QueueBegins | Sweep | Patience


class View(JobRows, Protocol):
    """`active` are waiting and charged jobs, and `claiming` whether the claim of any is open; `usage` is by quota key;
    `owed` are the shares that the messages in hand give back; `room` is the last word on each cluster's free room, and
    `all_known` whether that is complete; `freed` how often room was freed; `policies` are the hub's by title."""

    queued: WaitingJobs

    @property
    def active(self) -> ActiveJobs: ...
    @property
    def claiming(self) -> bool: ...
    @property
    def freed(self) -> int: ...
    @property
    def all_known(self) -> bool: ...
    @property
    def usage(self) -> Mapping[str, int]: ...
    @property
    def owed(self) -> Mapping[str, Share]: ...
    @property
    def room(self) -> Mapping[str, Freed]: ...
    @property
    def tree(self) -> QuotaNode | None: ...
    @property
    def queues(self) -> Mapping[str, QueueSpec]: ...
    @property
    def policies(self) -> Policies: ...
    def tenancy(self, namespace: str) -> Tenancy: ...
