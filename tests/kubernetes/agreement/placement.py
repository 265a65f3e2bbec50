"""What Fairway says of a place: its agent's own reading of nodes and pods, its reading of the job, its choice."""

from collections.abc import Iterable

from msgspec import Struct

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.agent.report import Seen
from fairway.placement.choose import choose
from fairway.placement.cluster import ClusterView
from fairway.placement.fleet import Fleet
from fairway.placement.verdicts.verdict import Context
from fairway.wire.capacity import ClusterInfo, Node, Slot
from fairway.wire.policy import Placement
from fairway.workloads.kinds.registry import read_unchecked
from fairway.workloads.kinds.volcano import VOLCANO
from tests.kubernetes.agreement.manifests import Place

_NOW = 1


class Said(Struct, frozen=True):
    """`slots` is the plan, empty when the gang does not fit; `by_node` is how many of its pods do. `shapes`: how many
    different ones the pods have. `shut_out`: a node is closed, but to pods that tolerate everything, as some do."""

    slots: tuple[Slot, ...]
    by_node: int
    shapes: int
    shut_out: bool
    words: str

    @property
    def fits(self) -> bool:
        return bool(self.slots)

    @property
    def exact(self) -> bool:
        """No order of equal pods on the same nodes places more of them, or fewer."""
        return self.shapes == 1 and not self.shut_out


async def seen(cluster: KubernetesCluster) -> tuple[Node, ...]:
    """The rows that an agent reports when it has just begun, in a cluster whose pods on batch resources are converted.
    `cluster` has the agent's shapes."""
    rows = Seen()
    rows.tell_batch(True)
    async for change in cluster.watch("Node.v1"):
        if change.synced:
            break
        rows.node(change.name, change.manifest)
    async for change in cluster.watch("Pod.v1"):
        if change.synced:
            break
        rows.pod(change.namespace, change.name, change.manifest)
    nodes, _ = rows.take(full=True)
    return nodes


def fleet_of(nodes: Iterable[Node]) -> Fleet:
    """One cluster, as a scheduler has it whose capacity cache was told of these nodes."""
    view = ClusterView(ClusterInfo("member", kinds=(VOLCANO.key,), observed_at=_NOW))
    for node in nodes:
        view.put(node)
    return Fleet({"member": view})


def asked(fleet: Fleet, place: Place) -> Said:
    choice = choose(fleet, read_unchecked(place.job()), Placement(), Context(_NOW))
    (verdict,) = choice.verdicts
    slots = choice.plan.slots if choice.plan is not None else ()
    tolerant = any({"operator": "Exists"} in one.spec.get("tolerations", ()) for one in place.case.gang)
    shut_out = tolerant and any(node.closed for node in place.case.nodes)
    words = f"{verdict.code}: needs {choice.asks}, and node by node {verdict.by_node} fit"
    return Said(slots, verdict.by_node, len(choice.demand.parts), shut_out, words)
