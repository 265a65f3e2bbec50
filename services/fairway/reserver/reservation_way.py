"""How room is held in the member beside the ledger: as its cluster can, its policy allows and its kind bears. Pure."""

from fairway.wire.capacity import AUTO, PLACEHOLDERS, RESERVATIONS, ClusterInfo
from fairway.wire.spec import JobSpec
from fairway.wire.workload import Workload
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import KOORD_SCHEDULER

_KUBE_SCHEDULER = ("", "default-scheduler")
_SCHEDULERS = {PLACEHOLDERS: _KUBE_SCHEDULER, RESERVATIONS: (*_KUBE_SCHEDULER, KOORD_SCHEDULER)}
# Where Volcano runs, the training-operator may be told to hand it the pods, and no manifest shows that.
_VOLCANO = "Job.batch.volcano.sh/v1alpha1"
_TOLD = "kubeflow.org/"


def hold_of(info: ClusterInfo, spec: JobSpec) -> str:
    """The first way of `info.holds` that the policy and the job's pods agree to; empty: the ledger alone."""
    for way in info.holds:
        if spec.reserve in (AUTO, way) and _bears(info, spec.workload, way):
            return way
    return ""


def _bears(info: ClusterInfo, work: Workload, way: str) -> bool:
    kind = KINDS.get(work.key)
    if kind is None or way not in kind.holds:
        return False
    if way == PLACEHOLDERS and work.api_version.startswith(_TOLD) and _VOLCANO in info.kinds:
        return False
    return all(pods.scheduler in _SCHEDULERS[way] for pods in work.pod_sets)
