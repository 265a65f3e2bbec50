"""How one job stands towards others, by what the record says of it: whether it is active, with what, and in which leaf.

It is the auditor's own idea of it, and so are the levels that follow from it (`levels.py`).
"""

from msgspec import Struct, field

from fairway.domain.job import ends
from fairway.domain.preemption.levels import ActiveJob
from fairway.domain.quota.charge import request
from fairway.domain.resources import Resources
from fairway.wire import jobs as wire
from fairway.wire.jobs import JobMessage
from fairway.wire.reasons import HOPELESS, Code, Reason
from fairway.wire.spec import JobSpec

_ROOM = (*HOPELESS, Code.WAITING_FOR_ROOM)


class Stopped(Struct):
    """What keeps a waiting job from being active: held by its owner, cancelled, or of no use to any cluster, by the
    `reasons` that it was told; `removing` is the attempt of which some is left, in its cluster."""

    held: bool = False
    cancelling: bool = False
    reasons: tuple[Reason, ...] = ()
    removing: tuple[str, int] = ("", 0)

    @property
    def waits_in_vain(self) -> bool:
        if self.held or self.cancelling:
            return True
        room = next((one.code for one in self.reasons if one.code in _ROOM), None)
        return not self.removing[0] and room in HOPELESS


class AuditedStanding(Struct):
    """`path` are the quota nodes from the root to its leaf; `charge` is what it was let go with, while it is charged.
    `reserved` is in which cluster its present attempt got its room, and when (ms); whether that `runs` by now."""

    job: str
    spec: JobSpec | None = None
    path: tuple[str, ...] = ()
    enqueued_at: int = 0
    attempt: int = 1
    waits: bool = False
    charge: Resources | None = None
    queue: str = ""
    reserved: tuple[str, int] = ("", 0)
    runs: bool = False
    stopped: Stopped = field(default_factory=Stopped)

    def follow(self, message: JobMessage) -> None:
        self._asks(message)
        self._stands(message)
        self._goes(message)
        if ends(message):
            self.waits = False
            self.charge = None

    def _asks(self, message: JobMessage) -> None:
        match message:
            case wire.Admitted():
                self.spec = message.spec
            case wire.Amended():
                if self.spec is not None and self.spec.manifest != message.spec.manifest and self.waits:
                    self.stopped.reasons = ()
                self.spec = message.spec
                self.path = message.leaf if message.queue else self.path
                self.queue = message.queue or self.queue

    def _stands(self, message: JobMessage) -> None:
        stopped = self.stopped
        match message:
            case wire.Queue():
                stopped.reasons = (message.why,) if message.why else ()
            case wire.Blocked():
                stopped.reasons = message.gates or (message.why,)
            case wire.Held():
                stopped.held = message.held
            case wire.Recall():
                stopped.cancelling = stopped.cancelling or message.why.code is Code.CANCELLED
                stopped.removing = (message.cluster, message.attempt) if message.cluster else stopped.removing
            case wire.Removed() if stopped.removing == (message.cluster, message.attempt):
                stopped.removing = ("", 0)

    def _goes(self, message: JobMessage) -> None:
        match message:
            case wire.Queue():
                self.queue = message.queue
                self.waits = True
                self.charge = None
                self.path = message.leaf
                self.attempt = message.attempt
                self.enqueued_at = message.enqueued_at
            case wire.Blocked():
                self.waits = True
                self.charge = None
            case wire.Dequeued():
                self.waits = False
                self.charge = message.charge
            case wire.Reserved():
                self.reserved = (message.cluster, message.at)
                self.runs = False
            case wire.Running():
                self.runs = True

    @property
    def active(self) -> ActiveJob | None:
        """None: it is none of the active, waiting or charged."""
        spec = self.spec
        if spec is None or not (self.waits or self.charge is not None):
            return None
        if self.waits and self.stopped.waits_in_vain:
            return None
        asks = request(spec.workload) if self.charge is None else self.charge
        leaf = self.path[-1] if self.path else ""
        return ActiveJob(self.job, leaf, spec.priority, self.enqueued_at, asks)
