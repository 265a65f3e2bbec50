"""What a service sees, by hand: every field empty unless a case says otherwise; and what it decided, in short."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fairway.domain.attempts.eviction_freeze import Freeze
from fairway.domain.decision import Add, Decision, Heard, Put
from fairway.domain.job import Job
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.charge import Share
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.reservations import Hold
from fairway.domain.tenancy.profile import Tenancy
from fairway.inbound.put_off import Key, PutOff
from fairway.placement.cluster import ClusterView
from fairway.placement.room_sums import RoomSums
from fairway.placement.scores import Weights
from fairway.queue.preemption.active_jobs import ActiveJobs
from fairway.queue.waiting.waiting_jobs import WaitingJobs
from fairway.reserver.node_rows import node_writes
from fairway.runtime.views.members import Facts
from fairway.watcher.missing import Down, StatusSaid
from fairway.wire import fleet
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.policy import Policy
from fairway.wire.reasons import Reason
from tests.spec.builders.lives import GPU, Life, S

KIND = "PyTorchJob.kubeflow.org/v1"


@dataclass
class Silent:
    """What the watcher makes of the silence of clusters."""

    freeze: Freeze | None = None
    frozen: Freeze | None = None
    frozen_rev: int = 0
    unsure: bool = False


@dataclass
class Given:
    """A view for any service; `of` fills in the jobs, which their queue's book knows too."""

    jobs: dict[str, Job] = field(default_factory=dict)
    revs: dict[str, int] = field(default_factory=dict)
    stored: dict[str, Job | None] = field(default_factory=dict)
    tree: QuotaNode | None = None
    policies: dict[str, Policy] = field(default_factory=dict)
    queues: dict[str, QueueSpec] = field(default_factory=dict)
    usage: dict[str, int] = field(default_factory=dict)
    owed: dict[str, Share] = field(default_factory=dict)
    room: dict[str, fleet.Freed] = field(default_factory=dict)
    all_known: bool = True
    freed: Any = 0
    queued: WaitingJobs = field(default_factory=WaitingJobs)
    active: ActiveJobs = field(default_factory=ActiveJobs)
    clusters: dict[str, ClusterView] = field(default_factory=dict)
    going: dict[str, int] = field(default_factory=dict)
    version: int = 9
    stale_after: int = 30_000
    weights: Weights = field(default_factory=Weights)
    alongside: int = 32
    ledger: dict[str, dict[str, Hold]] = field(default_factory=dict)
    claims: dict[str, dict[str, Hold]] = field(default_factory=dict)
    row_revs: dict[tuple[str, str], int] = field(default_factory=dict)
    sums: dict[str, RoomSums] = field(default_factory=dict)
    members: tuple[str, ...] = ()
    facts: dict[str, Facts] = field(default_factory=dict)
    left: tuple[str, ...] = ()
    overdue: list[str] = field(default_factory=list)
    held: dict[str, set[str]] = field(default_factory=dict)
    down: dict[str, Down] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)
    said: dict[str, StatusSaid] = field(default_factory=dict)
    new: bool = False
    silence: Silent = field(default_factory=Silent)
    waiting: PutOff = field(default_factory=PutOff)
    beyond: dict[Key, Reason] = field(default_factory=dict)
    tenancies: dict[str, Tenancy] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()

    @property
    def claiming(self) -> bool:
        return bool(self.active.claims)

    def tenancy(self, namespace: str) -> Tenancy:
        return self.tenancies.get(namespace) or Tenancy(namespace)

    def node_writes(self, cluster: str, changed: dict[str, Hold | None]) -> list[Put]:
        nodes = self.clusters[cluster].nodes if cluster in self.clusters else {}
        return node_writes(self, cluster, nodes, changed)


def of(*lives: Life, **more: Any) -> Given:
    view = Given(**more)
    if "queued" not in more:
        view.queued = WaitingJobs(lambda name: view.queues.get(name) or QueueSpec(name))
    for life in lives:
        view.jobs[life.name] = life.now
        view.revs[life.name] = life.now.rev
        view.queued.put(life.now)
        view.active.put(life.now)
    return view


def heard(life: Life, index: int = -1, **more: Any) -> Heard:
    """The last thing that was said of a life, or the `index`-th."""
    sequence, message = life.said[index]
    return Heard(**{"id": f"m{sequence}", "message": message, "sequence": sequence, **more})


def told(message: Any, **more: Any) -> Heard:
    return Heard(**{"id": "m0", "message": message, **more})


def verbs(decision: Decision) -> list[str]:
    """`verb`, with the job behind it where there are several: in the order in which it is said."""
    return [say.message.verb for step in decision.steps for say in step.events]


def gone(decision: Decision) -> list[str]:
    """The jobs that were let go, in order."""
    said = [say.message for step in decision.steps for say in step.events]
    return [message.job for message in said if message.verb == "dequeued"]


def events(decision: Decision) -> list[Any]:
    return [say.message for step in decision.steps for say in step.events]


def adds(decision: Decision) -> dict[str, int]:
    """What is added to counters, `table key`."""
    total: dict[str, int] = {}
    for write in (write for step in decision.steps for write in step.writes):
        if isinstance(write, Add):
            name = f"{write.table} {write.key}"
            total[name] = total.get(name, 0) + write.amount
    return total


def puts(decision: Decision, table: str) -> dict[str, Any]:
    found = [write for step in decision.steps for write in step.writes]
    return {write.key: write.value for write in found if isinstance(write, Put) and write.table == table}


def node(name: str, gpus: int = 8, **more: Any) -> Node:
    return Node(name, {GPU: gpus, "pods": 110}, **more)


def cluster(name: str, nodes: Iterable[Node], now: int, **info: Any) -> ClusterView:
    """A cluster that reported a second ago and serves PyTorchJobs."""
    facts = {"kinds": (KIND,), "observed_at": now - S, "epoch": "e1", "sequence": 5, **info}
    view = ClusterView(ClusterInfo(name, **facts))
    for one in nodes:
        view.put(one)
    return view


def tree(gpus: int = 32, jobs: int = 100) -> QuotaNode:
    """root, with one leaf `root/a` for team-a of so many GPUs and jobs."""
    most = {GPU: gpus, "kube-queue/max-jobs": jobs}
    leaf = QuotaNode("a", "root/a", {}, most, namespaces=("team-a",))
    return QuotaNode("root", "root", {}, {GPU: 1000}, children=(leaf,))
