"""What a cluster says it has: nodes, who uses them, which kinds it serves."""

from msgspec import Struct

# How room is held in the member beside the ledger: Koordinator Reservations, or placeholder pods.
RESERVATIONS = "reservations"
PLACEHOLDERS = "placeholders"
# In settings: whatever is best there, or nothing but the ledger.
AUTO = "auto"
LEDGER = "ledger"
RESERVE = (AUTO, RESERVATIONS, PLACEHOLDERS, LEDGER)


class Taint(Struct, frozen=True, omit_defaults=True):
    key: str
    effect: str  # NoSchedule | PreferNoSchedule | NoExecute
    value: str = ""


class Pods(Struct, frozen=True, omit_defaults=True):
    """Pods that say they are of one attempt, as an agent sees them on one node, and that have not ended: how many of
    each pod set, what they request together, and in which namespace they are (empty: Fairway's
    own). Only from its job's namespace do they count as the attempt's."""

    counts: dict[str, int]
    requests: dict[str, int]
    namespace: str = ""


class Node(Struct, frozen=True, omit_defaults=True):
    """One node, as the agent reports it and as the capacity cache keeps it.

    `used` is what pods that are not Fairway's request; `attempts` are Fairway's pods as seen, keyed `<job>/<attempt>`,
    with `@<namespace>` behind it for those that only say that they are that attempt's. `holds` is what Fairway's
    attempts take here, by the same key: reserved, running, or both, counted once. `margin` is left alone of what may
    become less by itself. Free is allocatable - used - the holds - the margin.
    """

    name: str
    allocatable: dict[str, int]
    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()
    schedulable: bool = True
    used: dict[str, int] = {}
    attempts: dict[str, Pods] = {}
    holds: dict[str, dict[str, int]] = {}
    margin: dict[str, int] = {}


class Falls(Struct, frozen=True, omit_defaults=True):
    """By how much a cluster's batch resources fell within five minutes. `since` (ms) the present five minutes count,
    `first` was there then and `lowest` since; `counts` are of the five minutes before, by twentieths: how often it fell
    by nothing, by up to one, by up to two."""

    since: int = 0
    first: dict[str, int] = {}
    lowest: dict[str, int] = {}
    counts: tuple[int, ...] = ()


class ClusterInfo(Struct, frozen=True, omit_defaults=True):
    """A cluster without its nodes. `kinds` are `Kind.group/version` served there, such as
    `PyTorchJob.kubeflow.org/v1` and `Job.batch/v1`; `observed_at` is when the bus had its last report, in
    milliseconds and never later than it was read; `epoch` and `sequence` are those of that report. `holds` are the
    ways in which room can be held in the member itself, the preferred first (see `RESERVATIONS`, `PLACEHOLDERS`). A
    `cordoned` cluster gets no new work. `mode` is push or pull, of one that was joined.
    `base` is what its nodes had together in the time after `since`, or after it was `confirmed` (see Facts), `total`
    what they have now; `unconfirmed` says what it reports beyond that, which does not count. `falls` are those of its
    batch resources."""

    name: str
    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()
    kinds: tuple[str, ...] = ()
    kubernetes: str = ""
    observed_at: int = 0
    epoch: str = ""
    sequence: int = 0
    holds: tuple[str, ...] = ()
    cordoned: bool = False
    mode: str = ""
    since: int = 0
    base: dict[str, int] = {}
    total: dict[str, int] = {}
    confirmed: int = 0
    unconfirmed: str = ""
    falls: Falls = Falls()


class Slot(Struct, frozen=True):
    """`count` pods of pod set `pods` on `node`: one line of the node-level proof of fit."""

    pods: str
    node: str
    count: int
