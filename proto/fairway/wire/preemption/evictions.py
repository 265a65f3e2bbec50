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
    is above is common to both sides) and by how much it is `over` its `min`, of each resource; at or below 0 it has
    nothing to give."""

    path: str
    above: int
    over: dict[str, int]
    min: dict[str, int] = field(default_factory=dict)


class Candidates(Struct, frozen=True, omit_defaults=True):
    """Attempts that may be evicted for a claim, in columns: a place is an attempt, and the same one in each of them.

    `attempts` are named `<job>/<attempt>`; `cluster` counts in `clusters`. `lender` is an attempt's leaf among the
    lenders: who may go by priority alone has none (-1). `lost` is what is lost with it: thousands of work
    (millionths of the fleet's largest share × seconds, up to the next power of two), and below them the thousandths of
    the fleet that its leaf has not borrowed. Where quota is short, `charge` says by resource what each has of it, and
    `path` (-1: none) which of the paths is charged."""

    attempts: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    cluster: tuple[int, ...] = ()
    level: tuple[int, ...] = ()
    priority: tuple[int, ...] = ()
    lender: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    path: tuple[int, ...] = ()
    charge: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def cluster_of(self, place: int) -> str:
        return self.clusters[self.cluster[place]]


class ReliefMessage(JobMessage, frozen=True, kw_only=True):
    """It is about a job, and not in the record of jobs (JOBS): its place is one in RELIEF."""


class Relieve(ReliefMessage, frozen=True, kw_only=True, tag="relieve"):
    """Find out whom to evict for this claim of the job, and in which cluster. `candidates` come in the order in which
    they would rather go. Their quota nodes are `paths`; of those nodes `short` is lacking, by `<node>|<resource>`, and
    who is charged there gives some back. By its guaranteed share the job may have `reclaimable` resources alone.
    `max_grace` as in `Evict`."""

    verb = "relieve"
    claim: Count
    until: Moment
    candidates: Candidates
    lenders: tuple[Lender, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()
    short: dict[str, int] = field(default_factory=dict)
    reclaimable: tuple[str, ...] = ()
    level: int = 0
    max_grace: dict[str, int] = field(default_factory=dict)


class Borrowed(Struct, frozen=True):
    """What a quota node `used` of a resource when others claimed it back, and how much of it is its own: its `min`."""

    node: str
    resource: str
    used: int
    min: int


class Victim(Struct, frozen=True):
    """An attempt to evict, and by what right. `quota`: it goes for quota that it has, whatever room it gives.
    `borrowed` is what its leaf had, of one that goes by a guaranteed share."""

    job: str
    attempt: Count
    cluster: str
    cause: Cause
    level: int = 0
    priority: int = 0
    quota: bool = False
    borrowed: Borrowed | None = None


class Evict(ReliefMessage, frozen=True, kw_only=True, tag="evict"):
    """End these attempts for that claim of the job, and keep these slots for it. `looked` is of how many candidates the
    scheduler chose. `max_grace` are the longest notice and grace (ms), by the quota nodes that say one."""

    verb = "evict"
    claim: Count
    cluster: str
    slots: tuple[Slot, ...]
    victims: tuple[Victim, ...]
    level: int = 0
    looked: int = 0
    max_grace: dict[str, int] = field(default_factory=dict)


Message = Relieve | Evict
