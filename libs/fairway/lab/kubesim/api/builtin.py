"""The resources every simulated cluster serves from birth."""

from typing import Any

from msgspec.structs import replace

from fairway.lab.kubesim.api.registry import AGE, ApiResource, Column, of_crd
from fairway.workloads.crds import definitions

# As the operators' own definitions have them.
_TRAINING = (Column("State", ".status.conditions[-1:].type"), AGE)
# Of the built-in kinds.
_CLUSTER_WIDE = ("Namespace", "Node", "PriorityClass", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition")
_CLAIM = "PersistentVolumeClaim"
_WITH_STATUS = (
    "Namespace",
    "Pod",
    "Node",
    "Service",
    "Job",
    "CronJob",
    _CLAIM,
    "CustomResourceDefinition",
)


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
    _builtin("v1", _CLAIM, "pvc"),
    _builtin("events.k8s.io/v1", "Event"),
    _builtin("batch/v1", "Job"),
    _builtin("batch/v1", "CronJob", "cj"),
    _builtin("rbac.authorization.k8s.io/v1", "Role"),
    _builtin("rbac.authorization.k8s.io/v1", "RoleBinding"),
    _builtin("rbac.authorization.k8s.io/v1", "ClusterRole"),
    _builtin("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    _builtin("apiextensions.k8s.io/v1", "CustomResourceDefinition", "crd", "crds"),
    _builtin("scheduling.k8s.io/v1", "PriorityClass", "pc"),
    _builtin("coordination.k8s.io/v1", "Lease"),
)

_SPARK = (
    Column("Status", ".status.applicationState.state"),
    Column("Attempts", ".status.executionAttempts"),
    Column("Start", ".status.lastSubmissionAttemptTime"),
    Column("Finish", ".status.terminationTime"),
    AGE,
)
_VOLCANO = (
    Column("STATUS", ".status.state.phase"),
    Column("minAvailable", ".status.minAvailable", "integer"),
    Column("RUNNINGS", ".status.running", "integer"),
    replace(AGE, name="AGE"),
    Column("QUEUE", ".spec.queue", priority=1),
)
_POD_GROUP = (
    Column("STATUS", ".status.phase"),
    Column("minMember", ".spec.minMember", "integer"),
    Column("RUNNINGS", ".status.running", "integer"),
    replace(AGE, name="AGE"),
    Column("QUEUE", ".spec.queue", priority=1),
)
# Of scheduler-plugins.
_PLUGINS_POD_GROUP = (
    Column("Phase", ".status.phase"),
    Column("MinMember", ".spec.minMember", "integer"),
    Column("Running", ".status.running", "integer"),
    Column("Succeeded", ".status.succeeded", "integer"),
    Column("Failed", ".status.failed", "integer"),
    AGE,
)
_WORKFLOW = (
    Column("Status", ".status.phase"),
    Column("Age", ".status.startedAt", "date"),
    Column("Message", ".status.message"),
)
_JOBSET = (
    Column("TerminalState", ".status.terminalState"),
    Column("Restarts", ".status.restarts"),
    Column("Completed", '.status.conditions[?(@.type=="Completed")].status'),
    Column("Suspended", ".spec.suspend"),
    AGE,
)
_SERVING = (
    Column("Ready", ".status.readyReplicas", "integer"),
    Column("Desired", ".spec.replicas", "integer"),
    Column("Up-to-date", ".status.updatedReplicas", "integer"),
    AGE,
)
_WRAPPER = (
    Column("Status", ".status.phase"),
    Column("Quota Reserved", '.status.conditions[?(@.type=="QuotaReserved")].status'),
    Column("Resources Deployed", '.status.conditions[?(@.type=="ResourcesDeployed")].status'),
    Column("Unhealthy", '.status.conditions[?(@.type=="Unhealthy")].status'),
    AGE,
)
_RAY_JOB = (
    Column("job status", ".status.jobStatus"),
    Column("deployment status", ".status.jobDeploymentStatus"),
    Column("ray cluster name", ".status.rayClusterName"),
    Column("start time", ".status.startTime"),
    Column("end time", ".status.endTime"),
    replace(AGE, name="age"),
)
_RAY_CLUSTER = (
    Column("desired workers", ".status.desiredWorkerReplicas", "integer"),
    Column("available workers", ".status.availableWorkerReplicas", "integer"),
    Column("cpus", ".status.desiredCPU"),
    Column("memory", ".status.desiredMemory"),
    Column("gpus", ".status.desiredGPU"),
    Column("tpus", ".status.desiredTPU", priority=1),
    Column("status", ".status.state"),
    replace(AGE, name="age"),
    Column("head pod IP", ".status.head.podIP", priority=1),
    Column("head service IP", ".status.head.serviceIP", priority=1),
)
JOBS = (
    _kind("kubeflow.org/v1", "PyTorchJob", columns=_TRAINING),
    _kind("kubeflow.org/v1", "TFJob", columns=_TRAINING),
    _kind("kubeflow.org/v1", "XGBoostJob", columns=_TRAINING),
    _kind("kubeflow.org/v1", "PaddleJob", columns=_TRAINING),
    _kind("kubeflow.org/v1", "MXJob", columns=_TRAINING),
    _kind("kubeflow.org/v1", "JAXJob", columns=_TRAINING),
    _kind("kubeflow.org/v2beta1", "MPIJob", columns=_TRAINING),
    _kind("kubeflow.org/v1", "MPIJob", columns=_TRAINING),
    _kind("sparkoperator.k8s.io/v1beta2", "SparkApplication", "sparkapp", columns=_SPARK),
    _kind("batch.volcano.sh/v1alpha1", "Job", "vcjob", "vj", columns=_VOLCANO),
    _kind("bus.volcano.sh/v1alpha1", "Command"),
    _kind("scheduling.volcano.sh/v1beta1", "Queue", "q", namespaced=False),
    _kind("scheduling.volcano.sh/v1beta1", "PodGroup", "pg", "podgroup-v1beta1", columns=_POD_GROUP),
    _kind("scheduling.sigs.k8s.io/v1alpha1", "PodGroup"),
    _kind("scheduling.x-k8s.io/v1alpha1", "PodGroup", "pg", "pgs", columns=_PLUGINS_POD_GROUP),
    _kind("argoproj.io/v1alpha1", "Workflow", "wf", status=False, columns=_WORKFLOW),
    _kind("argoproj.io/v1alpha1", "CronWorkflow", "cwf", "cronwf", status=False),
    _kind("sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", "scheduledsparkapp"),
    _kind("argoproj.io/v1alpha1", "WorkflowTemplate", "wftmpl", status=False),
    _kind("argoproj.io/v1alpha1", "ClusterWorkflowTemplate", "clusterwftmpl", "cwft", namespaced=False, status=False),
    _kind("jobset.x-k8s.io/v1alpha2", "JobSet", columns=_JOBSET),
    _kind("trainer.kubeflow.org/v1alpha1", "TrainJob", columns=_TRAINING),
    _kind("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", status=False),
    _kind("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", namespaced=False, status=False),
    _kind("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "lws", columns=_SERVING),
    _kind("workload.codeflare.dev/v1beta2", "AppWrapper", "aw", columns=_WRAPPER),
    _kind("ray.io/v1", "RayJob", columns=_RAY_JOB),
    _kind("ray.io/v1", "RayCluster", columns=_RAY_CLUSTER),
)
# Of Koordinator.
COLOCATION = (_kind("config.koordinator.sh/v1alpha1", "ClusterColocationProfile", namespaced=False, status=False),)

POLICIES = tuple(kind for crd in definitions().values() for kind in of_crd(crd))

EVERYTHING = (*CORE, *JOBS, *COLOCATION, *POLICIES)
