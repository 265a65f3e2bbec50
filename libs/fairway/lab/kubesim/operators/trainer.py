"""TrainJob, as Kubeflow's trainer v2.1 runs it: a JobSet of the same name, made once of the job and of the runtime that
it names."""

from copy import deepcopy
from typing import Any

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import OperatorView, Reconciled, condition_true, with_condition

_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_ENDS = {"Completed": "Complete", "Failed": "Failed"}


def reconcile(view: OperatorView) -> Reconciled:
    suspend = bool(view.spec.get("suspend"))
    status = view.status
    if suspend or condition_true(status, "Suspended"):
        why = ("Suspended", "TrainJob is suspended") if suspend else ("Resumed", "TrainJob is resumed")
        status = with_condition(status, view.now, "Suspended", suspend, why)
    job_set = view.named("JobSet").get(view.name)
    if job_set is None:
        runtime = _runtime(view)
        return Reconciled(create=(_job_set(view, runtime, suspend),) if runtime is not None else (), status=status)
    seen = job_set.get("status") or {}
    for one in seen.get("conditions") or ():
        if one["type"] in _ENDS and one["status"] == "True":
            status = with_condition(status, view.now, _ENDS[one["type"]], True, (one["reason"], one["message"]))
    status = {**status, "jobsStatus": seen.get("replicatedJobsStatus") or []}
    if bool(job_set["spec"].get("suspend")) is suspend:
        return Reconciled(status=status)
    return Reconciled(update=({**job_set, "spec": {**job_set["spec"], "suspend": suspend}},), status=status)


def _runtime(view: OperatorView) -> Json | None:
    """The spec of the runtime; the job waits for one that is not there."""
    ref = view.spec["runtimeRef"]
    found = view.find(str(ref.get("kind") or "ClusterTrainingRuntime"), str(ref["name"]))
    return deepcopy(found["spec"]) if found is not None else None


def _job_set(view: OperatorView, runtime: Json, suspend: bool) -> Json:
    template = runtime.get("template") or {}
    spec = template.get("spec") or {}
    jobs = [_job(view, runtime, one) for one in spec.get("replicatedJobs") or ()]
    metadata = template.get("metadata") or {}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {
            "name": view.name,
            "labels": {**(metadata.get("labels") or {}), **(view.spec.get("labels") or {})},
            "annotations": {**(metadata.get("annotations") or {}), **(view.spec.get("annotations") or {})},
        },
        "spec": {**spec, "replicatedJobs": jobs, "suspend": suspend},
    }


def _job(view: OperatorView, runtime: Json, job: Json) -> Json:
    """Of the trainer, with as many nodes as are asked for, each as large."""
    trainer = view.spec.get("trainer") or {}
    policy: Any = runtime.get("mlPolicy")
    mpi = (policy or {}).get("mpi")
    labels = (job["template"].get("metadata") or {}).get("labels") or {}
    trains = labels.get(_STEP) == "trainer"
    spec = job["template"].setdefault("spec", {})
    count = (policy or {}).get("numNodes", 1) if trains and policy is not None else spec.get("parallelism", 1)
    too = bool((mpi or {}).get("runLauncherAsNode"))
    if "numNodes" in trainer and (job["name"] == "node" if mpi is not None else trains):
        count = max(trainer["numNodes"] - 1, 1) if too else trainer["numNodes"]
    spec |= {"parallelism": count, "completions": count}
    if trainer.get("resourcesPerNode") and (trains or (too and job["name"] == "node")):
        for container in spec["template"]["spec"]["containers"]:
            if container.get("name") == "node":
                container["resources"] = deepcopy(trainer["resourcesPerNode"])
    return {**job, "replicas": 1} if _STEP in labels else job
