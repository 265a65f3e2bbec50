"""The resources every simulated cluster serves from birth."""

import re

from msgspec.structs import replace

from fairway.lab.kubesim.api.registry import ApiResource, Column, of_crd
from fairway.workloads.crds import definitions

_CONDITION = re.compile(r'status\.conditions\[\?\(@\.type=="(\w+)"\)\]\.status')
_PHASE = Column("State", "status.conditions[-1].type")


# The others of the core API have no status.
_WITH_STATUS = ("namespaces", "pods", "nodes", "services")


def _core(kind: str, plural: str, namespaced: bool = True, *short: str) -> ApiResource:
    return ApiResource("", "v1", kind, plural, namespaced, short, status=plural in _WITH_STATUS, builtin=True)


CORE = (
    _core("Namespace", "namespaces", False, "ns"),
    _core("Pod", "pods", True, "po"),
    _core("Node", "nodes", False, "no"),
    _core("Event", "events", True, "ev"),
    _core("ConfigMap", "configmaps", True, "cm"),
    _core("Secret", "secrets"),
    _core("Service", "services", True, "svc"),
    _core("ServiceAccount", "serviceaccounts", True, "sa"),
    ApiResource("events.k8s.io", "v1", "Event", "events", status=False, builtin=True),
    ApiResource(
        "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", False, ("pc",), status=False, builtin=True
    ),
    ApiResource("coordination.k8s.io", "v1", "Lease", "leases", status=False, builtin=True),
    *(
        ApiResource(
            "rbac.authorization.k8s.io",
            "v1",
            kind,
            f"{kind.lower()}s",
            "Cluster" not in kind,
            status=False,
            builtin=True,
        )
        for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
    ),
    ApiResource("batch", "v1", "Job", "jobs", builtin=True),
    ApiResource(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        False,
        ("crd", "crds"),
        builtin=True,
    ),
)

JOBS = (
    ApiResource("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs", columns=(_PHASE,)),
    ApiResource("kubeflow.org", "v1", "TFJob", "tfjobs", columns=(_PHASE,)),
    ApiResource("kubeflow.org", "v2beta1", "MPIJob", "mpijobs", columns=(_PHASE,)),
    ApiResource("kubeflow.org", "v1", "MPIJob", "mpijobs", columns=(_PHASE,)),
    ApiResource(
        "sparkoperator.k8s.io",
        "v1beta2",
        "SparkApplication",
        "sparkapplications",
        True,
        ("sparkapp",),
        columns=(Column("Status", "status.applicationState.state"),),
    ),
    ApiResource(
        "batch.volcano.sh",
        "v1alpha1",
        "Job",
        "jobs",
        True,
        ("vcjob", "vj"),
        columns=(
            Column("Status", "status.state.phase"),
            Column("MinAvailable", "spec.minAvailable", "integer"),
            Column("Runnings", "status.running", "integer"),
        ),
    ),
    ApiResource("bus.volcano.sh", "v1alpha1", "Command", "commands"),
    ApiResource(
        "argoproj.io",
        "v1alpha1",
        "Workflow",
        "workflows",
        True,
        ("wf",),
        status=False,
        columns=(Column("Status", "status.phase"),),
    ),
    ApiResource(
        "jobset.x-k8s.io",
        "v1alpha2",
        "JobSet",
        "jobsets",
        True,
        columns=(Column("TerminalState", "status.terminalState"), Column("Suspended", "spec.suspend")),
    ),
    ApiResource(
        "ray.io",
        "v1",
        "RayJob",
        "rayjobs",
        True,
        columns=(
            Column("Job Status", "status.jobStatus"),
            Column("Deployment Status", "status.jobDeploymentStatus"),
        ),
    ),
    ApiResource("ray.io", "v1", "RayCluster", "rayclusters", columns=(Column("Status", "status.state"),)),
)


def _own(kind: ApiResource) -> ApiResource:
    """As deploy/crds has it, with those of its columns that show a condition."""
    shown = ((one.name, _CONDITION.fullmatch(one.path)) for one in kind.columns if not one.priority)
    columns = tuple(Column(name, f"status.conditions[{found[1]}]") for name, found in shown if found)
    return replace(kind, columns=columns)


POLICIES = tuple(_own(kind) for crd in definitions().values() for kind in of_crd(crd))

EVERYTHING = (*CORE, *JOBS, *POLICIES)
