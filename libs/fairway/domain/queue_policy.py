"""A queue as its owner declared it."""

from enum import StrEnum

from msgspec import Struct


class QueuePolicy(StrEnum):
    """What happens behind a job that cannot go.

    PRIORITY: the next one is tried. BLOCK: the head holds its queue until it goes, is deleted or turns out
    impossible.
    """

    PRIORITY = "Priority"
    BLOCK = "Block"


class QueueSpec(Struct, frozen=True, omit_defaults=True):
    """One queue. `priority` orders queues among each other; inside, jobs go by priority, then enqueue time.

    `by_time`: enqueue time alone orders the jobs (the FIFO of the first kube-queue). `leaf` is the path of
    the quota leaf the queue stands for, empty when it takes jobs of several. `priority_class` names the
    class that gives the queue its priority when `priority` was not set. `namespace` is where it stands; `allows` are
    the namespaces whose jobs may name it, wherever it stands.
    """

    name: str
    policy: QueuePolicy = QueuePolicy.PRIORITY
    priority: int = 0
    leaf: str = ""
    by_time: bool = False
    priority_class: str = ""
    namespace: str = ""
    allows: tuple[str, ...] = ()
