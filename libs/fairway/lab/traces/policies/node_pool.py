"""Nodes that gangs are placed on as Fairway places them: whole in one cluster, node by node, by the same choice."""

from collections.abc import Mapping, Sequence

from fairway.lab.traces.trace import TraceJob, manifest
from fairway.placement.choose import choose
from fairway.placement.cluster import ClusterView
from fairway.placement.fleet import Fleet
from fairway.placement.verdicts.verdict import Context
from fairway.runtime.views.compiled_placement import prepare
from fairway.wire.capacity import ClusterInfo, Node, Slot
from fairway.wire.policy import Placement
from fairway.wire.workload import Workload
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.kinds.registry import read as understand

# Every cluster was heard of at this moment, and every choice is made at it.
_NOW = 1
_ANYWHERE = Placement()
Shape = tuple[object, ...]


def shape_of(job: TraceJob) -> Shape:
    """Jobs of one shape fit in the same places."""
    return (job.kind, job.pods, *job.requests.items(), *job.models)


class NodePool:
    """`clusters` are their nodes by name."""

    def __init__(self, clusters: Mapping[str, Sequence[Node]]) -> None:
        prepare()
        self._fleet = Fleet()
        for name, nodes in clusters.items():
            view = self._fleet[name] = ClusterView(ClusterInfo(name, kinds=tuple(KINDS), observed_at=_NOW))
            for node in nodes:
                view.put(node)
        self._workloads: dict[Shape, Workload] = {}
        self._where: dict[str, str] = {}

    def start(self, key: str, job: TraceJob) -> tuple[Slot, ...] | None:
        """Where the whole gang goes: its room is taken until `end` of the same key. None when there is no room."""
        workload = self._workload(job)
        choice = choose(self._fleet, workload, _ANYWHERE, Context(now=_NOW))
        if choice.plan is None:
            return None
        requests = {pods.name: pods.requests for pods in workload.pod_sets}
        self._fleet[choice.cluster].hold(key, choice.plan.slots, requests)
        self._where[key] = choice.cluster
        return choice.plan.slots

    def end(self, key: str) -> None:
        self._fleet[self._where.pop(key)].drop(key)

    def _workload(self, job: TraceJob) -> Workload:
        shape = shape_of(job)
        known = self._workloads.get(shape)
        if known is None:
            known = self._workloads[shape] = understand(manifest(job, 1))
        return known
