"""Labels and annotations that schedulers obey: one manifest for each kind and place that could say one."""

from typing import Any

from tests.cases.argo_rules import MORE, OWN_MARK, Never
from tests.cases.good_jobs import (
    app_wrapper,
    batch_job,
    job_set,
    kubeflow,
    leader_worker_set,
    ray_cluster,
    ray_job,
    spark,
    train_job,
    volcano_job,
    workflow,
)
from tests.cases.pod_flaws import Json
from tests.cases.pod_rules import ANYTHING, Rule, but, conf, steps

IGNORED = "scheduling.koordinator.sh/reservation-ignored"
_SAYS = "is obeyed by schedulers"
_LABELS = "spec.template.metadata.labels"
_NOTES = "spec.template.metadata.annotations"


def marked(name: str, job: Json, path: str, key: str = IGNORED, value: Any = "true") -> Rule:
    field = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in path.split(".")).removeprefix(".")
    return Rule(name, but(job, path, {key: value}), f"{field}['{key}']", _SAYS, ANYTHING, MORE)


def _pytorch() -> Json:
    return kubeflow("PyTorchJob", "pytorch", "Master", "Worker")()


def _inline() -> Json:
    return steps({"name": "s", "steps": [[{"name": "i", "inline": {"container": {"image": "x"}}}]]})


MARKS = (
    marked("room of others, as a label", batch_job(), _LABELS),
    marked("room of others, as an annotation", batch_job(), _NOTES),
    marked("a reservation of somebody", batch_job(), _NOTES, "scheduling.koordinator.sh/reservation-affinity", "{}"),
    marked("devices that nobody gave", batch_job(), _NOTES, "scheduling.koordinator.sh/device-allocated", "{}"),
    marked("the class of service of the node", batch_job(), _LABELS, "koordinator.sh/qosClass", "SYSTEM"),
    marked("a priority past its class", batch_job(), _LABELS, "koordinator.sh/priority", "9999"),
    marked("a gang over namespaces", batch_job(), _NOTES, "gang.scheduling.koordinator.sh/groups", '["a/b"]'),
    marked("a place before others in Volcano", volcano_job(), "metadata.annotations", "volcano.sh/sla-waiting-time"),
    marked(
        "a node of others by its time",
        volcano_job(),
        "spec.tasks.0.template.metadata.annotations",
        "volcano.sh/revocable-zone",
    ),
    marked("what is critical to the cluster", batch_job(), _NOTES, "scheduler.alpha.kubernetes.io/critical-pod", ""),
    marked("room of others for a worker", _pytorch(), "spec.pytorchReplicaSpecs.Worker.template.metadata.labels"),
    marked("room of others for a JobSet's Job", job_set(), "spec.replicatedJobs.0.template.metadata.labels"),
    marked(
        "room of others for a JobSet's pod", job_set(), "spec.replicatedJobs.0.template.spec.template.metadata.labels"
    ),
    marked("room of others for a TrainJob's JobSet", train_job(), "spec.runtime.template.metadata.annotations"),
    marked(
        "room of others for a TrainJob's pod",
        train_job(),
        "spec.runtime.template.spec.replicatedJobs.0.template.spec.template.metadata.labels",
    ),
    marked(
        "room of others for a leader",
        leader_worker_set(),
        "spec.leaderWorkerTemplate.leaderTemplate.metadata.labels",
    ),
    marked("room of others for a component", app_wrapper(), "spec.components.0.template.metadata.labels"),
    marked(
        "room of others for a component's pod",
        app_wrapper(),
        "spec.components.0.template.spec.template.metadata.labels",
    ),
    marked("to be counted as a pod of another's AppWrapper", batch_job(), _LABELS, "workload.codeflare.dev/appwrapper"),
    marked("room of others for a head", ray_job(), "spec.rayClusterSpec.headGroupSpec.template.metadata.labels"),
    marked("room of others for a worker of Ray", ray_cluster(), "spec.workerGroupSpecs.0.template.metadata.labels"),
    marked("room of others for a driver", spark(), "spec.driver.labels"),
    marked("room of others by the labels of the application", spark(), "metadata.labels"),
    marked("room of others for a workflow", workflow(), "spec.podMetadata.labels"),
    marked("room of others for a template", workflow(), "spec.templates.0.metadata.labels"),
    marked("room of others inside a step", _inline(), "spec.templates.1.steps.0.0.inline.metadata.labels"),
    marked("room of others as a default", workflow(), "spec.templateDefaults.metadata.labels"),
    marked("room of others for who removes artifacts", workflow(), "spec.artifactGC.podMetadata.labels"),
    Rule(
        "devices by claims",
        but(batch_job(), "spec.template.spec.resourceClaims", [{"name": "gpu"}]),
        "spec.template.spec.resourceClaims",
        "claims devices that no quota counts",
        ANYTHING,
        MORE,
    ),
    Rule(
        "devices by claims of a driver's template",
        but(spark(), "spec.driver.template.spec.resourceClaims", [{"name": "gpu"}]),
        "spec.driver.template.spec.resourceClaims",
        "claims devices that no quota counts",
        ANYTHING,
        MORE,
    ),
    Rule(
        "room of others by sparkConf",
        conf(f"spark.kubernetes.driver.label.{IGNORED}", "true"),
        f"spec.sparkConf['spark.kubernetes.driver.label.{IGNORED}']",
        _SAYS,
        ANYTHING,
        MORE,
    ),
)
_COMPLETED = "workflows.argoproj.io/completed"
OWN = (
    Never(
        "a pod that its controller would take for ended",
        but(workflow(), "spec.templates.0.metadata.labels", {_COMPLETED: "true"}),
        f"spec.templates[0].metadata.labels['{_COMPLETED}']",
        OWN_MARK,
        "remove it",
    ),
)
HARMLESS = (
    but(batch_job(), _LABELS, {"koordinator.sh/qosClass": "LS", "app.kubernetes.io/name": "a"}),
    but(batch_job(), _NOTES, {"gang.scheduling.koordinator.sh/name": "g"}),
    but(volcano_job(), "metadata.labels", {"volcano.sh/job-type": "a"}),
)
