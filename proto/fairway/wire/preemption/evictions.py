"""What services tell each other of whom to evict: on a stream of their own, which no tenant reads.

`relieve` asks the scheduler whom and where, `evict` is its answer and asks the reserver to do it. Both are commands:
nothing has happened yet.
"""

from msgspec import Struct, field

from fairway.wire.capacity import Slot
from fairway.wire.envelope import Count, JobMessage, Moment
from fairway.wire.preemption.claims import Cause


class Lender(Struct, frozen=True, array_like=True):
    """A quota node that may have to give back: its place in the tree, which of the `lenders` is next above it (-1: what
    is above is common to both sides) and by how much it is `over` its min, of each resource; at or below 0 it has
    nothing to give."""

    path: str
    above: int
    over: dict[str, int]


class Candidate(Struct, frozen=True, array_like=True):
    """An attempt that may be evicted for the claim. `lender` is its leaf among the lenders: who may go by priority
    alone has none (-1). `lost` is what is lost with it: first of fairness, as less of what its leaf uses is borrowed,
    then of work (millionths of the fleet's largest share × seconds).
    `charge` is what it has of quota, where that is short."""

    job: str
    attempt: Count
    cluster: str
    level: int
    priority: int
    lender: int
    lost: int
    charge: dict[str, int]
    path: int


class ReliefMessage(JobMessage, frozen=True, kw_only=True):
    """It is about a job, and not in the record of jobs (JOBS): its place is one in RELIEF."""


class Relieve(ReliefMessage, frozen=True, kw_only=True, tag="relieve"):
    """Find out whom to evict for this claim of the job, and in which cluster. `candidates` come in the order in which
    they would rather go. Their quota nodes are `paths`; of those nodes `short` is lacking, by `<node>|<resource>`, and
    who is charged there gives some back. By its guaranteed share the job may have `reclaimable` resources alone."""

    verb = "relieve"
    claim: Count
    until: Moment
    candidates: tuple[Candidate, ...]
    lenders: tuple[Lender, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()
    short: dict[str, int] = field(default_factory=dict)
    reclaimable: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    level: int = 0


class Victim(Struct, frozen=True):
    """An attempt to evict, and by what right. `quota`: it goes for quota that it has, whatever room it gives."""

    job: str
    attempt: Count
    cluster: str
    cause: Cause
    level: int = 0
    priority: int = 0
    quota: bool = False


class Evict(ReliefMessage, frozen=True, kw_only=True, tag="evict"):
    """End these attempts for that claim of the job, and keep these slots for it. `looked` is of how many candidates the
    scheduler chose."""

    verb = "evict"
    claim: Count
    cluster: str
    slots: tuple[Slot, ...]
    victims: tuple[Victim, ...]
    until: Moment
    level: int = 0
    looked: int = 0


Message = Relieve | Evict
