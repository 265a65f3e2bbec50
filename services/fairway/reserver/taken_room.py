"""Kept room that is lost: a member's own scheduler put somebody else there while the victims left, or the cluster was
cordoned. Pure.

The claim's nodes are chosen anew in its cluster; where there is none, the claim ends, and its job claims again later.
"""

from collections.abc import Iterator, Set

from fairway.domain import decision
from fairway.domain.decision import Heard, Put, Step
from fairway.domain.events import Teller
from fairway.domain.job import Job, State
from fairway.domain.preemption.open_claim import came_to_nothing, kept_key
from fairway.domain.reservations import Hold
from fairway.placement.cluster import ClusterView
from fairway.placement.fit import Plan, place
from fairway.placement.recheck import without
from fairway.placement.shapes import ask
from fairway.reserver.freed_room import is_free, with_freed
from fairway.reserver.kept_room import leaving
from fairway.reserver.node_rows import Capacity
from fairway.reserver.view import View
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason


def taken_from(view: Capacity) -> Iterator[str]:
    """The keys of what is kept for claims and is not free, though whoever was to leave has left; and of what is kept in
    a cluster that takes nobody any more."""
    for cluster, kept in view.claims.items():
        known = view.clusters.get(cluster)
        still = leaving(view, cluster)
        for key, hold in kept.items():
            if known is None:
                continue
            if known.info.cordoned or (_left(known, hold, still) and not is_free(key, kept, known.by_name)):
                yield key


def _left(cluster: ClusterView, hold: Hold, leaving: Set[str]) -> bool:
    """Whether none of those that were to leave for it is seen there, or holds anything, nor anybody who leaves its
    nodes for another claim."""
    if hold.leaving is None or any(cluster.nodes_of(key) for key in hold.leaving):
        return False
    nodes = [cluster.by_name[slot.node] for slot in hold.slots if slot.node in cluster.by_name]
    return not any(leaving & (node.holds.keys() | node.attempts.keys()) for node in nodes)


def choose_anew(view: View, heard: Heard[object], now: int) -> Iterator[Step]:
    for key in list(taken_from(view)):
        job = view.jobs.get(key.partition("/")[0])
        if job is not None and kept_key(job) == key and job.state is State.QUEUED and not job.cancelling:
            yield _anew(view, heard, job, key, now)


def _anew(view: View, heard: Heard[object], job: Job, key: str, now: int) -> Step:
    claim = job.open_claim
    assert claim is not None and job.spec is not None, "a line that is kept for it names an open claim"
    name = claim.cluster
    cluster = view.clusters[name]
    teller = Teller(view, "reserver", heard, now, job.id)
    if cluster.info.cordoned:
        text = f"{name} was cordoned while room was kept there"
        return came_to_nothing(teller, Reason(Code.CLAIM_OVERTAKEN, text, remedy=f"uncordon {name}"), now).step()
    plan = place(without(cluster, {one: {key} for one in cluster.by_name}), ask(job.spec.workload))
    if not isinstance(plan, Plan):
        nodes = ", ".join(sorted({slot.node for slot in claim.slots}))
        text = f"{name}: others took room of {nodes}, which was kept for it, and no other node there has it"
        remedy = f"see what runs on {nodes} that Fairway did not place there"
        return came_to_nothing(teller, Reason(Code.CLAIM_OVERTAKEN, text, remedy=remedy), now).step()
    teller.say(wire.Nominated, claim=claim.number, cluster=name, slots=plan.slots, victims=0, until=claim.until)
    hold = Hold.of(job, plan.slots, claim.until, ())
    rev = view.row_revs.get((decision.ledger(name), key), 1)
    line = Put(decision.ledger(name), key, hold, rev=rev + 1, expect=rev)
    step = teller.step(line, *view.node_writes(name, {key: hold}))
    return with_freed(view, step, heard, name, now)
