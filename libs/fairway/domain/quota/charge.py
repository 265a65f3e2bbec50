"""What a job is charged, and whether its quota takes it now: its share, at every node of its path.

A share is owed from the commit that ends its charge until the queue has heard of it, and is charged as long. The queue
hears what is in the record, so that whoever takes a share that was given back stands behind that in the record: read to
any place, it charges no node more than its max, and a store that is lost is made anew from it.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from fairway.domain.decision import OWED, QUOTA, Add, Heard, Put, Write
from fairway.domain.quota.tree import MAX_JOBS, QuotaNode, leaf_named
from fairway.domain.resources import Resources, add, show
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import Workload


def total(work: Workload) -> Resources:
    """What all pods of all pod sets ask for."""
    asks: Resources = {}
    for pods in work.pod_sets:
        asks = add(asks, pods.requests, pods.count)
    return asks


def request(work: Workload) -> Resources:
    """What the whole job asks for, and one job of `kube-queue/max-jobs`."""
    return add({MAX_JOBS: 1}, total(work))


def path_nodes(tree: QuotaNode | None, leaf: Sequence[str]) -> list[QuotaNode]:
    """The nodes from the root to a leaf, as the tree has them now; shorter when it has lost some."""
    known = leaf_named(tree, leaf[-1]) if tree is not None and leaf else None
    if known is not None and tuple(node.path for node in known) == tuple(leaf):
        return list(known)
    nodes: list[QuotaNode] = []
    level = [tree] if tree else []
    for path in leaf:
        node = next((one for one in level if one.path == path), None)
        if node is None:
            break
        nodes.append(node)
        level = list(node.children)
    return nodes


def lacking(path: Sequence[QuotaNode], usage: Mapping[str, int], asks: Resources, told: str = "") -> Reason | None:
    """Why the quota does not take the request now, with the numbers; None when it does. The reason's field is the path
    of the full node."""
    found = full_node(path, usage, asks, told)
    if found is None:
        return None
    node, name = found
    # What claims keep counts beside what is on its way out for them: together that may be more than there is.
    left = max(0, node.max[name] - usage.get(quota_key(node.path, name), 0))
    text = (
        f"quota {node.path} has {show(name, left)} of {show(name, node.max[name])} {name} left and the job needs "
        f"{show(name, asks[name])}"
    )
    remedy = f"it goes when jobs of {node.path} end, or when its max is raised"
    return Reason(Code.WAITING_FOR_QUOTA, text, node.path, remedy)


def full_node(
    path: Sequence[QuotaNode], usage: Mapping[str, int], asks: Resources, told: str = ""
) -> tuple[QuotaNode, str] | None:
    """The node whose maximum the request would pass, and of which resource; None when all take it. It is the one that
    was `told` as long as it is one of them, else the nearest to the leaf. There the fewest ends concern the job, and
    where several nodes are full it is not another one at each look."""
    amounts = [(name, amount) for name, amount in sorted(asks.items()) if amount]
    upwards = path[::-1]
    for node in sorted(upwards, key=lambda node: node.path != told) if told else upwards:
        for name, amount in amounts:
            most = node.max.get(name)
            if most is not None and usage.get(quota_key(node.path, name), 0) + amount > most:
                return node, name
    return None


def short_of_min(path: Sequence[QuotaNode], fixed: Mapping[str, int], asks: Resources) -> Reason | None:
    """Why a job that is never evicted may not go now: all such jobs together stay within the min of every node, of each
    resource that it names. `fixed` is what they use."""
    for node in path[::-1]:
        for name, amount in sorted(asks.items()):
            if not amount or (name not in node.min and name not in node.max) or name == MAX_JOBS:
                continue
            least = node.min.get(name, 0)
            left = least - fixed.get(quota_key(node.path, name), 0)
            if amount > left:
                text = (
                    f"quota {node.path} has {show(name, left)} of its min of {show(name, least)} {name} left for jobs "
                    f"that are never evicted and the job needs {show(name, amount)}"
                )
                remedy = f"it goes when such jobs of {node.path} end, when its min is raised, or as a preemptible job"
                return Reason(Code.WAITING_FOR_QUOTA, text, node.path, remedy)
    return None


def charge(path: Sequence[QuotaNode], asks: Resources) -> list[Add]:
    """The writes that charge a request to every node of its path, each guarded by that node's maximum."""
    amounts = [(name, amount) for name, amount in sorted(asks.items()) if amount]
    return [
        Add(QUOTA, quota_key(node.path, name), amount, node.max.get(name)) for node in path for name, amount in amounts
    ]


class Share(Struct, frozen=True):
    """`charge` at every node of `path`, root first."""

    path: tuple[str, ...]
    charge: Resources

    def adds(self, sign: int = 1) -> list[Add]:
        """What charges it, whatever the max; with -1, what gives it back."""
        return [
            Add(QUOTA, quota_key(node, name), sign * amount)
            for node in self.path
            for name, amount in sorted(self.charge.items())
            if amount
        ]


# A tree of a thousand nodes has some ten thousand of them, and each decision asks for a dozen.
@lru_cache(maxsize=16_384)
def quota_key(node: str, resource: str) -> str:
    return f"{node}|{resource}"


def owed_key(job: str, rev: int) -> str:
    """Where a share is owed: by the job, and the event with which its charge has ended."""
    return f"{job}/{rev}"


_GIVE_BACK = (wire.Queue, wire.Succeeded, wire.Failed, wire.Lost, wire.Evicted, wire.Cancelled)


def given_back_by(heard: Heard[object]) -> str:
    """The key of what is owed until this message is heard; empty when it gives nothing back."""
    message = heard.message
    if isinstance(message, wire.Queue) and message.why is None:
        return ""  # it comes for the first time
    return owed_key(message.job, message.rev) if isinstance(message, _GIVE_BACK) else ""


def settled(key: str, share: Share) -> tuple[Write, ...]:
    """It is owed no more: once, whoever says so how often."""
    return (Put(OWED, key, None, expect=1), *share.adds(-1))
