"""The reservation ledger: what an attempt holds in a cluster, and how that becomes holds of single nodes."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from fairway.domain.job import Job
from fairway.domain.resources import Resources, add, scale
from fairway.wire.capacity import Node, Pods, Slot


class Hold(Struct, frozen=True):
    """One attempt's reservation: planned slots, and what one pod of each pod set requests. Until the attempt was
    dispatched the hold ends at `expires_at` (ms); 0: when the attempt ends. Its pods are in `namespace`. What is kept
    for a claim names the attempts that leave the cluster for it; None: it was written before holds named them."""

    slots: tuple[Slot, ...]
    requests: dict[str, Resources]
    expires_at: int = 0
    namespace: str = ""
    leaving: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls, job: Job, slots: tuple[Slot, ...], expires_at: int = 0, leaving: tuple[str, ...] | None = None
    ) -> "Hold":
        assert job.spec is not None, "a job that was placed was admitted"
        requests = {pods.name: one_pod(pods.requests) for pods in job.spec.workload.pod_sets}
        return cls(slots, requests, expires_at, job.spec.workload.namespace, leaving)


def one_pod(requests: Mapping[str, int]) -> Resources:
    """What a pod takes of a node: its requests and one of the node's `pods`."""
    return {**requests, "pods": 1}


def left_on(node: Node, besides: Iterable[Resources] = ()) -> Resources:
    """What is left of a node's allocatable beside what others use, what our attempts hold, its margin, and these."""
    left = dict(node.allocatable)
    for amounts in (node.used, *node.holds.values(), node.margin, *besides):
        for name, amount in amounts.items():
            if name in left:
                left[name] -= amount
    return left


def not_there_yet(node: Node, key: str, kept: Mapping[str, Hold]) -> set[str]:
    """What does not count on a node beside what is `kept` there under this key: that of claims for which somebody has
    yet to leave it. Until he has gone he stands for it. Nothing of this, while that is true of the key itself."""
    there = node.holds.keys() | node.attempts.keys()
    waits = {
        one
        for one in node.holds
        if (hold := kept.get(one)) is not None and hold.leaving and not there.isdisjoint(hold.leaving)
    }
    return set() if key in waits else waits


def holds_of(key: str, hold: Hold | None, nodes: Mapping[str, Node]) -> dict[str, Resources]:
    """What attempt `key` takes on each node, reserved and running counted once.

    Pods that were seen count where they are. Planned slots are kept for as many pods of the pod set as were not
    seen yet, first on the nodes where fewer were seen than planned. Without a hold only what is seen counts.
    """
    taken: dict[str, Resources] = {}
    seen: dict[str, dict[str, int]] = {}
    for name, node in nodes.items():
        pods = node.attempts.get(key)
        if pods is not None:
            taken[name] = dict(pods.requests)
            for pod_set, count in pods.counts.items():
                seen.setdefault(pod_set, {})[name] = count
    planned = _by_pod_set(hold.slots if hold else ())
    # Pods that do not say which pod set they are of take the place of any that is still missing.
    nameless = sum(sum(counts.values()) for name, counts in seen.items() if name not in planned)
    for pod_set, slots in planned.items():
        assert hold is not None, "slots are planned by a hold"
        missing = sum(slot.count for slot in slots) - sum(seen.get(pod_set, {}).values())
        nameless, missing = max(0, nameless - max(0, missing)), missing - nameless
        for slot in slots:
            keep = min(missing, slot.count - seen.get(pod_set, {}).get(slot.node, 0))
            if keep > 0:
                missing -= keep
                taken[slot.node] = add(taken.get(slot.node, {}), scale(hold.requests.get(pod_set, {}), keep))
    return taken


def whose(claim: str, pods: Pods, ledger: Mapping[str, Hold]) -> str:
    """The key under which pods count that say they are of an attempt: its own if they are in its job's namespace, else
    one that is nobody's, so that they take room of nobody's reservation and give nobody's back."""
    key = claim.partition("@")[0]
    hold = ledger.get(key)
    if not pods.namespace or (hold is not None and hold.namespace == pods.namespace):
        return key
    return f"{key}@{pods.namespace}"


def by_attempt(claims: Mapping[str, Pods], ledger: Mapping[str, Hold]) -> dict[str, Pods]:
    """What an agent says of one node, under the keys that count. An agent that cannot tell whose pods are an attempt's
    says in one line what holds its room and in another where its pods are: both take room."""
    found: dict[str, Pods] = {}
    for claim, pods in claims.items():
        key = whose(claim, pods, ledger)
        found[key] = _together(found[key], pods) if key in found else pods
    return found


def _together(one: Pods, other: Pods) -> Pods:
    counts = add(one.counts, other.counts)
    return Pods(counts, add(one.requests, other.requests), one.namespace or other.namespace)


def _by_pod_set(slots: Iterable[Slot]) -> dict[str, list[Slot]]:
    grouped: dict[str, list[Slot]] = {}
    for slot in slots:
        grouped.setdefault(slot.pods, []).append(slot)
    return grouped
