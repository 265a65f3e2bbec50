"""The resources every simulated cluster serves from birth."""

from fairway.lab.kubesim.api.registry import ApiResource, Column

_READY = (Column("Ready", "status.conditions[Ready]"),)
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


def _policies(group: str, *short: tuple[str, ...]) -> tuple[ApiResource, ...]:
    namespaced, wide = short or ((), ())
    return (
        ApiResource(group, "v1alpha1", "PropagationPolicy", "propagationpolicies", True, namespaced, columns=_READY),
        ApiResource(
            group,
            "v1alpha1",
            "ClusterPropagationPolicy",
            "clusterpropagationpolicies",
            False,
            wide,
            columns=_READY,
        ),
    )


POLICIES = (
    *_policies("policy.karmada.io", ("pp",), ("cpp",)),
    *_policies("policy.one.alibabacloud.com"),
    ApiResource(
        "scheduling.sigs.k8s.io", "v1beta1", "ElasticQuotaTree", "elasticquotatrees", True, ("eqtree",), columns=_READY
    ),
    ApiResource("scheduling.x-k8s.io", "v1alpha1", "Queue", "queues", columns=_READY),
    ApiResource("fairway.io", "v1alpha1", "TenantProfile", "tenantprofiles", False, columns=_READY),
    # Without a status subresource, as deploy/crds has it: one write says everything.
    ApiResource(
        "work.karmada.io",
        "v1alpha2",
        "ResourceBinding",
        "resourcebindings",
        True,
        ("rb",),
        status=False,
        columns=(
            Column("Scheduled", "status.conditions[Scheduled]"),
            Column("FullyApplied", "status.conditions[FullyApplied]"),
        ),
    ),
)

EVERYTHING = (*CORE, *JOBS, *POLICIES)
