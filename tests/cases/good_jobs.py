"""A job of every kind that describes pods, good at `restricted`: what tests spoil, and what they let pass."""

from collections.abc import Callable
from copy import deepcopy

from tests.cases.pod_flaws import CONTEXT, Json


def main(name: str = "main") -> Json:
    return {"name": name, "image": "x", "command": ["x"], "securityContext": deepcopy(CONTEXT)}


def job(api_version: str, kind: str, spec: Json) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "one", "namespace": "team"}, "spec": spec}


def template(name: str = "main") -> Json:
    return {"spec": {"restartPolicy": "Never", "containers": [main(name)]}}


def batch_job() -> Json:
    return job("batch/v1", "Job", {"template": template()})


def single_pod() -> Json:
    return job("v1", "Pod", template()["spec"])


def kubeflow(kind: str, prefix: str, *roles: str, version: str = "v1") -> Callable[[], Json]:
    def made() -> Json:
        return job(
            f"kubeflow.org/{version}", kind, {f"{prefix}ReplicaSpecs": {r: {"template": template()} for r in roles}}
        )

    return made


def volcano_job() -> Json:
    task = {"name": "one", "replicas": 1, "template": template()}
    return job("batch.volcano.sh/v1alpha1", "Job", {"schedulerName": "volcano", "tasks": [task]})


def job_set() -> Json:
    one = {"name": "one", "template": {"spec": {"template": template()}}}
    return job("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [one]})


def train_job() -> Json:
    """With its runtime in it."""
    one = {"name": "one", "template": {"spec": {"template": template()}}}
    return job(
        "trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtime": {"template": {"spec": {"replicatedJobs": [one]}}}}
    )


def leader_worker_set() -> Json:
    groups = {"size": 2, "leaderTemplate": template(), "workerTemplate": template()}
    return job("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"leaderWorkerTemplate": groups})


def app_wrapper() -> Json:
    """Of a Job and a PyTorchJob."""
    inside = (batch_job(), kubeflow("PyTorchJob", "pytorch", "Master")())
    return job("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": [{"template": one} for one in inside]})


def ray_cluster() -> Json:
    return job("ray.io/v1", "RayCluster", _ray())


def ray_job() -> Json:
    return job("ray.io/v1", "RayJob", {"rayClusterSpec": _ray(), "submitterPodTemplate": template()})


def _ray() -> Json:
    worker = {"groupName": "one", "replicas": 1, "maxReplicas": 1, "rayStartParams": {}, "template": template()}
    return {"headGroupSpec": {"rayStartParams": {}, "template": template()}, "workerGroupSpecs": [worker]}


def spark() -> Json:
    role = {"cores": 1, "memory": "1g", "securityContext": deepcopy(CONTEXT)}
    return job(
        "sparkoperator.k8s.io/v1beta2",
        "SparkApplication",
        {
            "type": "Scala",
            "mode": "cluster",
            "sparkVersion": "3.5.5",
            "image": "x",
            "mainApplicationFile": "local:///a",
            "driver": role,
            "executor": deepcopy(role),
        },
    )


def spark_by_template() -> Json:
    made = spark()
    for role in ("driver", "executor"):
        made["spec"][role] = {"cores": 1, "memory": "1g", "template": template(f"spark-kubernetes-{role}")}
    return made


def workflow(kind: str = "container") -> Json:
    one: Json = {"name": "one"}
    inside = main()
    match kind:
        case "containerSet":
            one[kind] = {"containers": [inside]}
        case "script":
            one[kind] = inside | {"source": "true"}
        case _:
            one[kind] = inside
    one[kind].pop("name", None)
    return job("argoproj.io/v1alpha1", "Workflow", {"entrypoint": "one", "templates": [one]})
