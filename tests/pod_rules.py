"""What pods may name only where a TenantProfile lists it: one manifest for each way to say it, with the field and the
words of its refusal, and with what would allow it."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from fairway.domain.tenancy.profile import PRIVILEGED
from fairway.wire.workload import Toleration
from hostile_pods import (
    batch_job,
    job_set,
    kubeflow,
    merge,
    ray_job,
    reach,
    spark,
    volcano_job,
    workflow,
)
from pod_flaws import Json

ANYTHING: Json = {"level": PRIVILEGED}
TOKENS: Json = {"tokens": True}
EVERY_TAINT = Toleration(operator="Exists")


class Rule(Struct, frozen=True):
    """`allowed` are the fields of a Tenancy that allows it; `remedy` is where an administrator writes that."""

    name: str
    job: Json
    field: str
    says: str
    allowed: Json
    remedy: str


def accounts(*names: str) -> Json:
    return {"service_accounts": frozenset(names)}


def but(made: Json, path: str, value: Any) -> Json:
    """The job with a value at a dotted path; numbers are places in lists."""
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    holder = reach(made, tuple(way))
    holder[last] = merge({"x": holder.get(last) or {}}, {"x": value})["x"] if isinstance(last, str) else value
    return made


def conf(key: str, value: str) -> Json:
    made = spark()
    made["spec"]["sparkConf"] = {key: value}
    return made


def steps(*made: Json) -> Json:
    """A workflow with more templates."""
    flow = workflow()
    flow["spec"]["templates"] += made
    return flow


def mpi() -> Json:
    return kubeflow("MPIJob", "mpi", "Launcher", "Worker")()


def _elsewhere() -> Json:
    made = but(workflow(), "spec.workflowTemplateRef.name", "theirs")
    made["metadata"]["annotations"] = {"kube-queue/min-resources": "cpu: 1"}
    return made


_POD, _SPEC = "spec.template.spec", "spec.templates[0]"
_PLACE, _RAY = "template", "spec.rayClusterSpec"
_MORE = "TenantProfile spec.podSecurity"
_ACCOUNTS, _TOKENS = "TenantProfile spec.serviceAccounts", "TenantProfile spec.automountServiceAccountToken"
_PATCH = "spec.podSpecPatch"
_VOLUME: Callable[[Json], list[Json]] = lambda source: [{"name": "v", **source}]  # noqa: E731 - one line among data
_TOKEN = {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}
_REF = {"name": "s", "templateRef": {"name": "theirs", "template": "t"}}
_RESOURCE = {"name": "make", "resource": {"action": "create", "manifest": "kind: Pod"}}

NODES = (
    Rule("a node", but(batch_job(), f"{_POD}.nodeName", "n1"), f"{_POD}.nodeName", "past every scheduler", ANYTHING,
         _MORE),
    Rule("a node for MPI's launcher", but(mpi(), "spec.mpiReplicaSpecs.Launcher.template.spec.nodeName", "n1"),
         "spec.mpiReplicaSpecs.Launcher.template.spec.nodeName", "past every scheduler", ANYTHING, _MORE),
    Rule("every taint", but(batch_job(), f"{_POD}.tolerations", [{"operator": "Exists"}]), f"{_POD}.tolerations[0]",
         "tolerates every taint", {"tolerations": frozenset((EVERY_TAINT,))}, "TenantProfile spec.tolerations"),
    Rule("every taint of one effect", but(volcano_job(), "spec.tasks.0.template.spec.tolerations",
         [{"operator": "Exists", "effect": "NoExecute"}]), "spec.tasks[0].template.spec.tolerations[0]",
         "tolerates every taint", {"tolerations": frozenset((EVERY_TAINT,))}, "TenantProfile spec.tolerations"),
    Rule("every taint for all of a workflow", but(workflow(), "spec.tolerations", [{"operator": "Exists"}]),
         "spec.tolerations[0]", "tolerates every taint", {"tolerations": frozenset((EVERY_TAINT,))},
         "TenantProfile spec.tolerations"),
    Rule("a taint that is filled in later", but(workflow(), "spec.templates.0.tolerations",
         [{"operator": "Exists", "key": "{{inputs.parameters.key}}"}]), f"{_SPEC}.tolerations[0]", "only at run time",
         {"tolerations": frozenset((EVERY_TAINT,))}, "TenantProfile spec.tolerations"),
    Rule("another scheduler", but(batch_job(), f"{_POD}.schedulerName", "theirs"), f"{_POD}.schedulerName",
         "the scheduler 'theirs'", {"schedulers": frozenset(("theirs",))}, "TenantProfile spec.schedulers"),
    Rule("another scheduler for a Volcano Job", but(volcano_job(), "spec.schedulerName", "theirs"),
         "spec.schedulerName",
         "the scheduler 'theirs'", {"schedulers": frozenset(("theirs",))}, "TenantProfile spec.schedulers"),
    Rule("Volcano's scheduler for a batch Job", but(batch_job(), f"{_POD}.schedulerName", "volcano"),
         f"{_POD}.schedulerName", "the scheduler 'volcano'", {"schedulers": frozenset(("volcano",))},
         "TenantProfile spec.schedulers"),
    Rule("another scheduler by sparkConf", conf("spark.kubernetes.scheduler.name", "theirs"),
         "spec.sparkConf['spark.kubernetes.scheduler.name']", "the scheduler 'theirs'",
         {"schedulers": frozenset(("theirs",))}, "TenantProfile spec.schedulers"),
    Rule("a runtime class", but(job_set(), "spec.replicatedJobs.0.template.spec.template.spec.runtimeClassName",
         "kata"),
         "spec.replicatedJobs[0].template.spec.template.spec.runtimeClassName", "the RuntimeClass 'kata'",
         {"runtime_classes": frozenset(("kata",))}, "TenantProfile spec.runtimeClasses"),
    Rule("a class of the system", but(batch_job(), f"{_POD}.priorityClassName", "system-node-critical"),
         f"{_POD}.priorityClassName", "'system-node-critical'",
         {"priority_classes": frozenset(("system-node-critical",))},
         "TenantProfile spec.priorityClasses"),
    Rule("a class of the system for a gang", but(mpi(), "spec.runPolicy.schedulingPolicy.priorityClass", "system-x"),
         "spec.runPolicy.schedulingPolicy.priorityClass", "'system-x'", {"priority_classes": frozenset(("system-x",))},
         "TenantProfile spec.priorityClasses"),
    Rule("a class of the system for Volcano", but(volcano_job(), "spec.priorityClassName", "system-x"),
         "spec.priorityClassName", "'system-x'", {"priority_classes": frozenset(("system-x",))},
         "TenantProfile spec.priorityClasses"),
)  # fmt: skip
ACCOUNTS = (
    Rule("an account", but(batch_job(), f"{_POD}.serviceAccountName", "admin"), f"{_POD}.serviceAccountName",
         "the service account 'admin'", accounts("admin"), _ACCOUNTS),
    Rule("an account by its old name", but(batch_job(), f"{_POD}.serviceAccount", "admin"), f"{_POD}.serviceAccount",
         "the service account 'admin'", accounts("admin"), _ACCOUNTS),
    Rule("an account for MPI's launcher", but(mpi(), "spec.mpiReplicaSpecs.Launcher.template.spec.serviceAccountName",
         "a"),
         "spec.mpiReplicaSpecs.Launcher.template.spec.serviceAccountName", "the service account 'a'", accounts("a"),
         _ACCOUNTS),
    Rule("an account for Ray's submitter", but(ray_job(), "spec.submitterPodTemplate.spec.serviceAccountName", "a"),
         "spec.submitterPodTemplate.spec.serviceAccountName", "the service account 'a'", accounts("a"), _ACCOUNTS),
    Rule("an account for Spark's driver", but(spark(), "spec.driver.serviceAccount", "a"), "spec.driver.serviceAccount",
         "the service account 'a'", accounts("a"), _ACCOUNTS),
    Rule("an account by sparkConf", conf("spark.kubernetes.authenticate.executor.serviceAccountName", "a"),
         "spec.sparkConf['spark.kubernetes.authenticate.executor.serviceAccountName']", "the service account 'a'",
         accounts("a"), _ACCOUNTS),
    Rule("an account for a workflow", but(workflow(), "spec.serviceAccountName", "a"), "spec.serviceAccountName",
         "the service account 'a'", accounts("a"), _ACCOUNTS),
    Rule("an account for a template", but(workflow(), "spec.templates.0.serviceAccountName",
         "{{workflow.parameters.a}}"),
         f"{_SPEC}.serviceAccountName", "the service account", accounts("{{workflow.parameters.a}}"), _ACCOUNTS),
    Rule("an account for Argo's executor", but(workflow(), "spec.executor.serviceAccountName", "a"),
         "spec.executor.serviceAccountName", "the service account 'a'", accounts("a"), _ACCOUNTS),
    Rule("an account for who removes artifacts", but(workflow(), "spec.artifactGC.serviceAccountName", "a"),
         "spec.artifactGC.serviceAccountName", "the service account 'a'", accounts("a"), _ACCOUNTS),
    Rule("the token of the default account for a driver", but(spark(), "spec.driver.serviceAccount", "default"),
         "spec.driver.serviceAccount", "is not given out", TOKENS, _TOKENS),
    Rule("the token of the default account", but(batch_job(), f"{_POD}.automountServiceAccountToken", True),
         f"{_POD}.automountServiceAccountToken", "mounts the token", TOKENS, _TOKENS),
    Rule("a projected token", but(batch_job(), f"{_POD}.volumes", _VOLUME(_TOKEN)),
         f"{_POD}.volumes[0].projected.sources[0].serviceAccountToken", "mounts a token", TOKENS, _TOKENS),
    Rule("a token by the name of its secret", but(batch_job(), f"{_POD}.volumes",
         _VOLUME({"secret": {"secretName": "default-token-x7k2p"}})), f"{_POD}.volumes[0].secret.secretName",
         "is named as the token", TOKENS, _TOKENS),
    Rule("a token in a variable", but(batch_job(), f"{_POD}.containers.0", {"name": "m", "env": [
         {"name": "T", "valueFrom": {"secretKeyRef": {"name": "argo.service-account-token", "key": "token"}}}]}),
         f"{_POD}.containers[0].env[0].valueFrom.secretKeyRef.name", "is named as the token", TOKENS, _TOKENS),
    Rule("a token by sparkConf", conf("spark.kubernetes.driver.secrets.a-token-x7k2p", "/t"),
         "spec.sparkConf['spark.kubernetes.driver.secrets.a-token-x7k2p']", "is named as the token", TOKENS, _TOKENS),
    Rule("any object, as a resource", steps(_RESOURCE), "spec.templates[1].resource",
         "with the rights of the service account",
         accounts("argo-workflow"), _ACCOUNTS),
    Rule("a plugin of Argo", steps({"name": "p", "plugin": {"slack": {}}}), "spec.templates[1].plugin.slack",
         "slack-executor-plugin", accounts("slack-executor-plugin"), _ACCOUNTS),
)  # fmt: skip
UNSEEN = (
    Rule("a workflow that lies elsewhere", _elsewhere(),
         "spec.workflowTemplateRef", "lies in a cluster", ANYTHING, _MORE),
    Rule("a template that lies elsewhere", steps({"name": "s", "steps": [[_REF]]}),
         "spec.templates[1].steps[0][0].templateRef", "lies in a cluster", ANYTHING, _MORE),
    Rule("a template elsewhere in a DAG", steps({"name": "d", "dag": {"tasks": [_REF]}}),
         "spec.templates[1].dag.tasks[0].templateRef", "lies in a cluster", ANYTHING, _MORE),
    Rule("a template elsewhere as a hook", but(workflow(), "spec.hooks.exit", _REF), "spec.hooks.exit.templateRef",
         "lies in a cluster", ANYTHING, _MORE),
    Rule("a patch of the pod", but(workflow(), _PATCH, "hostPID: true"), _PATCH, "patches hostPID", ANYTHING, _MORE),
    Rule("a patch in another case", but(workflow(), _PATCH, '{"HOSTPID": true}'), _PATCH, "patches HOSTPID", ANYTHING,
         _MORE),
    Rule("a patch of a container", but(workflow(), "spec.templates.0.podSpecPatch",
         "containers: [{name: main, securityContext: {privileged: true}}]"), f"{_SPEC}.podSpecPatch",
         "patches containers.securityContext", ANYTHING, _MORE),
    Rule("a patch that is filled in later", but(workflow(), "spec.templates.0.podSpecPatch",
         "containers: [{name: main, resources: {{workflow.parameters.size}}}]"), f"{_SPEC}.podSpecPatch",
         "only at run time", ANYTHING, _MORE),
    Rule("a patch of who removes artifacts", but(workflow(), "spec.artifactGC.podSpecPatch", "hostPID: true"),
         "spec.artifactGC.podSpecPatch", "patches hostPID", ANYTHING, _MORE),
    Rule("an annotation that is named later", but(workflow(), "spec.podMetadata.annotations",
         {"a{{workflow.name}}": "x"}),
         "spec.podMetadata.annotations['a{{workflow.name}}']", "only at run time", ANYTHING, _MORE),
    Rule("a file as the driver's template", conf("spark.kubernetes.driver.podTemplateFile", "/t.yaml"),
         "spec.sparkConf['spark.kubernetes.driver.podTemplateFile']", "cannot look at", ANYTHING, _MORE),
    Rule("another namespace by sparkConf", conf("spark.kubernetes.namespace", "kube-system"),
         "spec.sparkConf['spark.kubernetes.namespace']", "cannot look at", ANYTHING, _MORE),
    Rule("a file of the operator by sparkConf", conf("spark.kubernetes.kerberos.krb5.path", "/token"),
         "spec.sparkConf['spark.kubernetes.kerberos.krb5.path']", "cannot look at", ANYTHING, _MORE),
    Rule("another API server by sparkConf", conf("spark.master", "k8s://https://a"), "spec.sparkConf['spark.master']",
         "says where the driver is made", ANYTHING, _MORE),
    Rule("a path of the node by sparkConf", conf("spark.kubernetes.executor.volumes.hostPath.d.mount.path", "/d"),
         "spec.sparkConf['spark.kubernetes.executor.volumes.hostPath.d.mount.path']", "mounts a path of the node",
         ANYTHING, _MORE),
    Rule("a plugin of Volcano", but(volcano_job(), "spec.plugins.theirs", []), "spec.plugins.theirs",
         "'theirs' is a plugin",
         ANYTHING, _MORE),
)  # fmt: skip
ALSO = (
    Rule("hostPath in a script", but(workflow("script"), "spec.volumes", _VOLUME({"hostPath": {"path": "/"}})),
         "spec.volumes[0].hostPath", "mounts a path of the node", ANYTHING, _MORE),
    Rule("privileges in a template written inside a step", steps({"name": "s", "steps": [[{"name": "i", "inline": {
         "container": {"image": "x", "securityContext": {"privileged": True}}}}]]}),
         "spec.templates[1].steps[0][0].inline.container.securityContext.privileged", "root of its node", ANYTHING,
         _MORE),
    Rule("privileges as a default of templates", but(workflow(), "spec.templateDefaults.container.securityContext",
         {"privileged": True}), "spec.templateDefaults.container.securityContext.privileged", "root of its node",
         ANYTHING, _MORE),
    Rule("privileges of Ray's autoscaler", but(but(ray_job(), f"{_RAY}.enableInTreeAutoscaling", True),
         f"{_RAY}.autoscalerOptions.securityContext.privileged", True),
         f"{_RAY}.autoscalerOptions.securityContext.privileged", "root of its node", ANYTHING, _MORE),
    Rule("privileges of a role of no pods", but(kubeflow("PyTorchJob", "pytorch", "Master", "Worker")(),
         "spec.pytorchReplicaSpecs.Worker", {"replicas": 0, "template": {"spec": {"hostIPC": True,
         "containers": [{}]}}}),
         "spec.pytorchReplicaSpecs.Worker.template.spec.hostIPC", "a namespace of the node", ANYTHING, _MORE),
    Rule("a container that is added later", but(batch_job(), f"{_POD}.ephemeralContainers", [{"name": "e",
         "securityContext": {"privileged": True}}]), f"{_POD}.ephemeralContainers[0].securityContext.privileged",
         "root of its node", ANYTHING, _MORE),
)  # fmt: skip
RULES = (*NODES, *ACCOUNTS, *UNSEEN, *ALSO)
