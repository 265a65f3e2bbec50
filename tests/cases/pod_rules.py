"""What pods may name only where a TenantProfile lists it: one manifest for each way to say it, with the field and the
words of its refusal, and with what would allow it."""

from fairway.wire.workload import Toleration
from tests.cases.good_jobs import batch_job, job_set, kubeflow, ray_job, spark, volcano_job, workflow
from tests.cases.pod_flaws import Json
from tests.cases.rule_builders import ANYTHING, UNSAFE, Bound, Rule, but, conf, steps, with_volume
from tests.cases.unseen_rules import ALSO, UNSEEN

__all__ = ["ANYTHING", "RULES", "Rule", "but", "conf", "steps"]

EVERY_TAINT = Toleration(operator="Exists")
TOKENS = Bound({"tokens": True}, "automountServiceAccountToken")
TAINTS = Bound({"tolerations": frozenset((EVERY_TAINT,))}, "tolerations")


def accounts(name: str) -> Bound:
    return Bound({"service_accounts": frozenset((name,))}, "serviceAccounts")


def account(name: str, job: Json, path: str, value: str) -> Rule:
    return accounts(value).at(name, job, path, value, f"the service account '{value}'")


def schedulers(name: str) -> Bound:
    return Bound({"schedulers": frozenset((name,))}, "schedulers")


def scheduler(name: str, job: Json, path: str, value: str) -> Rule:
    return schedulers(value).at(name, job, path, value, f"the scheduler '{value}'")


def priority(name: str, job: Json, path: str, value: str) -> Rule:
    listed = Bound({"priority_classes": frozenset((value,))}, "priorityClasses")
    return listed.at(name, job, path, value, f"'{value}'")


def mpi() -> Json:
    return kubeflow("MPIJob", "mpi", "Launcher", "Worker")()


def tolerating(made: Json, path: str, **more: str) -> Json:
    return but(made, path, [{"operator": "Exists", **more}])


_POD = "spec.template.spec"
_ONE = "spec.templates.0"
_LAUNCHER = "spec.mpiReplicaSpecs.Launcher.template.spec"
_RESOURCE = {"name": "make", "resource": {"action": "create", "manifest": "kind: Pod"}}
_TOKEN = {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}
_TOKEN_KEY = {"name": "argo.service-account-token", "key": "token"}
_TAINT = "tolerates every taint"
_LATER = "{{workflow.parameters.a}}"

NODES = (
    UNSAFE.at("a node", batch_job(), f"{_POD}.nodeName", "n1", "past every scheduler"),
    UNSAFE.at("a node for MPI's launcher", mpi(), f"{_LAUNCHER}.nodeName", "n1", "past every scheduler"),
    TAINTS.on("every taint", tolerating(batch_job(), f"{_POD}.tolerations"), f"{_POD}.tolerations[0]", _TAINT),
    TAINTS.on(
        "every taint of one effect",
        tolerating(volcano_job(), "spec.tasks.0.template.spec.tolerations", effect="NoExecute"),
        "spec.tasks[0].template.spec.tolerations[0]",
        _TAINT,
    ),
    TAINTS.on(
        "every taint for all of a workflow", tolerating(workflow(), "spec.tolerations"), "spec.tolerations[0]", _TAINT
    ),
    TAINTS.on(
        "a taint that is filled in later",
        tolerating(workflow(), f"{_ONE}.tolerations", key="{{inputs.parameters.key}}"),
        "spec.templates[0].tolerations[0]",
        "only at run time",
    ),
    scheduler("another scheduler", batch_job(), f"{_POD}.schedulerName", "theirs"),
    scheduler("another scheduler for a Volcano Job", volcano_job(), "spec.schedulerName", "theirs"),
    scheduler("Volcano's scheduler for a batch Job", batch_job(), f"{_POD}.schedulerName", "volcano"),
    schedulers("theirs").by_conf(
        "another scheduler by sparkConf", "spark.kubernetes.scheduler.name", "theirs", "the scheduler 'theirs'"
    ),
    Bound({"runtime_classes": frozenset(("kata",))}, "runtimeClasses").at(
        "a runtime class",
        job_set(),
        "spec.replicatedJobs.0.template.spec.template.spec.runtimeClassName",
        "kata",
        "the RuntimeClass 'kata'",
    ),
    priority("a class of the system", batch_job(), f"{_POD}.priorityClassName", "system-node-critical"),
    priority("a class of the system for a gang", mpi(), "spec.runPolicy.schedulingPolicy.priorityClass", "system-x"),
    priority("a class of the system for Volcano", volcano_job(), "spec.priorityClassName", "system-x"),
)
ACCOUNTS = (
    account("an account", batch_job(), f"{_POD}.serviceAccountName", "admin"),
    account("an account by its old name", batch_job(), f"{_POD}.serviceAccount", "admin"),
    account("an account for MPI's launcher", mpi(), f"{_LAUNCHER}.serviceAccountName", "a"),
    account("an account for Ray's submitter", ray_job(), "spec.submitterPodTemplate.spec.serviceAccountName", "a"),
    account("an account for Spark's driver", spark(), "spec.driver.serviceAccount", "a"),
    accounts("a").by_conf(
        "an account by sparkConf",
        "spark.kubernetes.authenticate.executor.serviceAccountName",
        "a",
        "the service account 'a'",
    ),
    account("an account for a workflow", workflow(), "spec.serviceAccountName", "a"),
    accounts(_LATER).at(
        "an account for a template", workflow(), f"{_ONE}.serviceAccountName", _LATER, "the service account"
    ),
    account("an account for Argo's executor", workflow(), "spec.executor.serviceAccountName", "a"),
    account("an account for who removes artifacts", workflow(), "spec.artifactGC.serviceAccountName", "a"),
    TOKENS.at(
        "the token of the default account for a driver",
        spark(),
        "spec.driver.serviceAccount",
        "default",
        "is not given out",
    ),
    TOKENS.at(
        "the token of the default account",
        batch_job(),
        f"{_POD}.automountServiceAccountToken",
        True,
        "mounts the token",
    ),
    TOKENS.on(
        "a projected token",
        with_volume(batch_job(), f"{_POD}.volumes", _TOKEN),
        f"{_POD}.volumes[0].projected.sources[0].serviceAccountToken",
        "mounts a token",
    ),
    TOKENS.on(
        "a token by the name of its secret",
        with_volume(batch_job(), f"{_POD}.volumes", {"secret": {"secretName": "default-token-x7k2p"}}),
        f"{_POD}.volumes[0].secret.secretName",
        "is named as the token",
    ),
    TOKENS.on(
        "a token in a variable",
        but(
            batch_job(),
            f"{_POD}.containers.0",
            {"name": "m", "env": [{"name": "T", "valueFrom": {"secretKeyRef": _TOKEN_KEY}}]},
        ),
        f"{_POD}.containers[0].env[0].valueFrom.secretKeyRef.name",
        "is named as the token",
    ),
    TOKENS.by_conf(
        "a token by sparkConf", "spark.kubernetes.driver.secrets.a-token-x7k2p", "/t", "is named as the token"
    ),
    accounts("argo-workflow").on(
        "any object, as a resource",
        steps(_RESOURCE),
        "spec.templates[1].resource",
        "with the rights of the service account",
    ),
    accounts("slack-executor-plugin").on(
        "a plugin of Argo",
        steps({"name": "p", "plugin": {"slack": {}}}),
        "spec.templates[1].plugin.slack",
        "slack-executor-plugin",
    ),
)
RULES = (*NODES, *ACCOUNTS, *UNSEEN, *ALSO)
