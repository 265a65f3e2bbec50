"""What a job is charged, and whether its quota takes it now."""

from collections.abc import Mapping, Sequence

from fairway.domain.decision import QUOTA, Add
from fairway.domain.job import Job
from fairway.domain.quota.shares import quota_key
from fairway.domain.quota.tree import MAX_JOBS, QuotaNode
from fairway.domain.resources import Resources, add, show
from fairway.wire.reasons import Code, Reason


def request(job: Job) -> Resources:
    """What the whole job asks for, all pods of all pod sets, and one job of `kube-queue/max-jobs`."""
    assert job.spec is not None, "an admitted job has a spec"
    total: Resources = {MAX_JOBS: 1}
    for pods in job.spec.workload.pod_sets:
        total = add(total, pods.requests, pods.count)
    return total


def path_nodes(tree: QuotaNode | None, leaf: Sequence[str]) -> list[QuotaNode]:
    """The nodes from the root to a leaf, as the tree has them now; shorter when it has lost some."""
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
    """The node whose maximum the request would pass, with the numbers; None when all take it. The reason's field is
    that node's path: the one that was `told` as long as it is one of them, else the nearest to the leaf. There the
    fewest ends concern the job, and where several nodes are full it is not another one at each look."""
    for node in sorted(path, key=lambda node: (node.path != told, -len(node.path))):
        for name in sorted(asks):
            most = node.max.get(name)
            used = usage.get(quota_key(node.path, name), 0)
            if most is not None and asks[name] and used + asks[name] > most:
                text = (
                    f"quota {node.path} has {show(name, most - used)} of {show(name, most)} {name} left and the job "
                    f"needs {show(name, asks[name])}"
                )
                remedy = f"it goes when jobs of {node.path} end, or when its max is raised"
                return Reason(Code.WAITING_FOR_QUOTA, text, node.path, remedy)
    return None


def charge(path: Sequence[QuotaNode], asks: Resources) -> list[Add]:
    """The writes that charge a request to every node of its path, each guarded by that node's maximum."""
    return [
        Add(QUOTA, quota_key(node.path, name), amount, node.max.get(name))
        for node in path
        for name, amount in sorted(asks.items())
        if amount
    ]
