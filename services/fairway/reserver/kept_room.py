"""Room that is kept for claims: a line of the ledger under a key that names no attempt, so that it is nobody else's."""

from fairway.domain import decision
from fairway.domain.decision import NOTHING, Decision, Heard, Put
from fairway.domain.job import Job
from fairway.domain.preemption.open_claim import kept_key
from fairway.domain.reservations import not_there_yet
from fairway.placement.cluster import ClusterView
from fairway.placement.recheck import without
from fairway.reserver.capacity import release
from fairway.reserver.node_rows import Capacity
from fairway.reserver.view import View
from fairway.wire import jobs as wire


def leaving(view: Capacity, cluster: str) -> set[str]:
    """The attempts that leave a cluster for claims. With what is kept there they may be more than a node has."""
    return {key for hold in view.claims.get(cluster, {}).values() for key in hold.leaving or ()}


def of_claim(view: View, job: Job, message: wire.Placed) -> tuple[ClusterView, ClusterView] | None:
    """The nodes that are kept for the job, as it has them: for the slots that were kept, and for a fresh choice among
    these nodes. What is kept there for other claims, of which a victim still stands for it, counts for that alone: so
    much of the node was never its own. None when it was placed elsewhere."""
    claim = job.open_claim
    if claim is None or claim.cluster != message.cluster:
        return None
    names = {slot.node for slot in claim.slots}
    if not names.issuperset(slot.node for slot in message.slots):
        return None
    cluster = view.clusters[message.cluster]
    key = kept_key(job)
    kept = view.claims.get(cluster.name, {})
    nodes = {name: cluster.by_name[name] for name in names if name in cluster.by_name}
    others = without(cluster, {name: {key} for name in nodes})
    if set(message.slots) != set(claim.slots):
        return others, others
    return without(cluster, {name: {key, *not_there_yet(node, key, kept)} for name, node in nodes.items()}), others


def claim_dropped(view: View, job: Job) -> tuple[str, str, list[Put]]:
    """In which cluster room is kept for the job, under which key, and the write that drops that; empty: none is."""
    key = kept_key(job)
    cluster = job.open_claim.cluster if job.open_claim is not None else ""
    if not key or key not in view.ledger.get(cluster, {}):
        return "", "", []
    return cluster, key, [Put(decision.ledger(cluster), key, None)]


def drop_claim(view: View, heard: Heard[object], key: str, now: int) -> Decision:
    """Nothing is kept for a claim that is over."""
    cluster = next((name for name, kept in view.claims.items() if key in kept), "")
    return release(view, heard, cluster, key, now) if cluster else NOTHING
