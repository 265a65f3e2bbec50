"""The resources every simulated cluster serves from birth."""

import re
from typing import Any

from msgspec.structs import replace

from fairway.lab.kubesim.api.registry import ApiResource, Column, of_crd
from fairway.workloads.crds import definitions

_CONDITION = re.compile(r'status\.conditions\[\?\(@\.type=="(\w+)"\)\]\.status')
_PHASE = Column("State", "status.conditions[-1].type")
# Of the built-in kinds.
_CLUSTER_WIDE = ("Namespace", "Node", "PriorityClass", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition")
_WITH_STATUS = ("Namespace", "Pod", "Node", "Service", "Job", "CustomResourceDefinition")


def _kind(api_version: str, kind: str, *short: str, **more: Any) -> ApiResource:
    group, _, version = api_version.rpartition("/")
    plural = kind.lower() + ("es" if kind.endswith("ss") else "s")
    return ApiResource(group, version, kind, plural, short=short, **more)


def _builtin(api_version: str, kind: str, *short: str) -> ApiResource:
    namespaced = kind not in _CLUSTER_WIDE
    return _kind(api_version, kind, *short, namespaced=namespaced, status=kind in _WITH_STATUS, builtin=True)


CORE = (
    _builtin("v1", "Namespace", "ns"),
    _builtin("v1", "Pod", "po"),
    _builtin("v1", "Node", "no"),
    _builtin("v1", "Event", "ev"),
    _builtin("v1", "ConfigMap", "cm"),
    _builtin("v1", "Secret"),
    _builtin("v1", "Service", "svc"),
    _builtin("v1", "ServiceAccount", "sa"),
    _builtin("events.k8s.io/v1", "Event"),
    _builtin("scheduling.k8s.io/v1", "PriorityClass", "pc"),
    _builtin("coordination.k8s.io/v1", "Lease"),
    _builtin("rbac.authorization.k8s.io/v1", "Role"),
    _builtin("rbac.authorization.k8s.io/v1", "RoleBinding"),
    _builtin("rbac.authorization.k8s.io/v1", "ClusterRole"),
    _builtin("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    _builtin("batch/v1", "Job"),
    _builtin("apiextensions.k8s.io/v1", "CustomResourceDefinition", "crd", "crds"),
)

_SPARK = (Column("Status", "status.applicationState.state"),)
_VOLCANO = (
    Column("Status", "status.state.phase"),
    Column("MinAvailable", "spec.minAvailable", "integer"),
    Column("Runnings", "status.running", "integer"),
)
_JOBSET = (Column("TerminalState", "status.terminalState"), Column("Suspended", "spec.suspend"))
_RAY = (Column("Job Status", "status.jobStatus"), Column("Deployment Status", "status.jobDeploymentStatus"))
JOBS = (
    _kind("kubeflow.org/v1", "PyTorchJob", columns=(_PHASE,)),
    _kind("kubeflow.org/v1", "TFJob", columns=(_PHASE,)),
    _kind("kubeflow.org/v2beta1", "MPIJob", columns=(_PHASE,)),
    _kind("kubeflow.org/v1", "MPIJob", columns=(_PHASE,)),
    _kind("sparkoperator.k8s.io/v1beta2", "SparkApplication", "sparkapp", columns=_SPARK),
    _kind("batch.volcano.sh/v1alpha1", "Job", "vcjob", "vj", columns=_VOLCANO),
    _kind("bus.volcano.sh/v1alpha1", "Command"),
    _kind("argoproj.io/v1alpha1", "Workflow", "wf", status=False, columns=(Column("Status", "status.phase"),)),
    _kind("jobset.x-k8s.io/v1alpha2", "JobSet", columns=_JOBSET),
    _kind("ray.io/v1", "RayJob", columns=_RAY),
    _kind("ray.io/v1", "RayCluster", columns=(Column("Status", "status.state"),)),
)


def _own(kind: ApiResource) -> ApiResource:
    """As deploy/crds has it, with those of its columns that show a condition."""
    shown = ((one.name, _CONDITION.fullmatch(one.path)) for one in kind.columns if not one.priority)
    columns = tuple(Column(name, f"status.conditions[{found[1]}]") for name, found in shown if found)
    return replace(kind, columns=columns)


POLICIES = tuple(_own(kind) for crd in definitions().values() for kind in of_crd(crd))

EVERYTHING = (*CORE, *JOBS, *POLICIES)
