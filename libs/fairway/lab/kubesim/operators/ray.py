"""RayCluster and RayJob, as kuberay v1.3 runs them. The job itself lasts as long as the submitter pod
(K8sJobMode), or the head's fairway.test/run-for (HTTPMode)."""

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import (
    OperatorView,
    Reconciled,
    alive,
    condition_true,
    phase,
    pod,
    with_condition,
    without,
)
from fairway.lab.kubesim.pod_behaviour import EXIT_CODE, PREFIX, RUN_FOR, milliseconds

_FINAL = ("Complete", "Failed", "ValidationFailed")
# The submitter that kuberay makes when the job brings no template of its own.
_SUBMITTER = {"requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
_DEFAULT_RUN = "1s"


def reconcile_cluster(view: OperatorView) -> Reconciled:
    pods = alive(view.named("Pod").values())
    if view.spec.get("suspend"):
        return Reconciled(delete=tuple(pods), status={**view.status, "state": "suspended"})
    there = view.named("Pod")
    wanted = _pods(view)
    gone = tuple(one for one in pods if phase(one) == "Failed")
    create = tuple(one for one in wanted if one["metadata"]["name"] not in there)
    running = [one for one in pods if phase(one) == "Running"]
    head = any(one["metadata"]["labels"].get("ray.io/node-type") == "head" for one in running)
    status = with_condition(view.status, view.now, "HeadPodReady", head, ("HeadPodRunningAndReady", ""))
    up = len(running) == len(wanted)
    if up or condition_true(status, "RayClusterProvisioned"):
        why = ("AllPodRunningAndReadyFirstTime", "All Ray Pods are ready for the first time")
        status = with_condition(status, view.now, "RayClusterProvisioned", True, why)
    counts = {"desiredWorkerReplicas": len(wanted) - 1, "readyWorkerReplicas": len(running) - head}
    status = {**status, **counts, "availableWorkerReplicas": counts["readyWorkerReplicas"]}
    if up:
        status["state"] = "ready"
    return Reconciled(create=create, delete=gone, status=status)


def _pods(view: OperatorView) -> list[Json]:
    head = view.spec.get("headGroupSpec") or {}
    made = [_pod(view, f"{view.name}-head-{view.uid[:5]}", head, ("head", "headgroup"))]
    for group in view.spec.get("workerGroupSpecs") or ():
        number = int(group.get("replicas", group.get("minReplicas", 1))) * int(group.get("numOfHosts", 1))
        name = group.get("groupName", "workers")
        for index in range(number):
            made.append(_pod(view, f"{view.name}-{name}-worker-{view.uid[:4]}{index}", group, ("worker", name)))
    return made


def _pod(view: OperatorView, name: str, group: Json, role: tuple[str, str]) -> Json:
    labels = {
        "ray.io/cluster": view.name,
        "ray.io/node-type": role[0],
        "ray.io/group": role[1],
        "ray.io/is-ray-node": "yes",
    }
    made = pod(name, group.get("template"), labels)
    # A Ray node serves until it is deleted; how long the job takes is the job's business.
    made["metadata"]["annotations"] |= {RUN_FOR: "never", EXIT_CODE: "0"}
    made["spec"].setdefault("restartPolicy", "Always")
    return made


def reconcile_job(view: OperatorView) -> Reconciled:
    state = view.status.get("jobDeploymentStatus", "")
    clusters = view.named("RayCluster")
    jobs = view.named("Job")
    children = (*clusters.values(), *jobs.values())
    if state in _FINAL:
        return Reconciled(delete=tuple(clusters.values()) if view.spec.get("shutdownAfterJobFinishes") else ())
    if view.spec.get("suspend"):
        return Reconciled(delete=children, status=_suspended(view))
    cluster = next(iter(clusters.values()), None)
    if cluster is None:
        name = f"{view.name}-raycluster-{view.uid[:5]}"
        return Reconciled(create=(_cluster(view, name),), status=_initializing(view, name))
    found = cluster.get("status") or {}
    status = {**view.status, "rayClusterName": cluster["metadata"]["name"], "rayClusterStatus": found}
    if found.get("state") != "ready" and state != "Running":
        return Reconciled(status={**status, "jobDeploymentStatus": "Initializing"})
    if (view.spec.get("submissionMode") or "K8sJobMode") == "K8sJobMode":
        return _by_submitter(view, status, jobs)
    return _by_time(view, status)


def _cluster(view: OperatorView, name: str) -> Json:
    """With the labels of its job, as KubeRay copies them."""
    labels = {**(view.job["metadata"].get("labels") or {}), "ray.io/originated-from-cr-name": view.name}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": name, "labels": labels},
        "spec": view.spec.get("rayClusterSpec") or {},
    }


def _initializing(view: OperatorView, cluster: str) -> Json:
    job_id = view.spec.get("jobId") or f"{view.name}-{view.uid[:5]}"
    kept = without(view.status, "endTime", "kubesimRunningMs", "jobStatus")
    return {
        **kept,
        "jobDeploymentStatus": "Initializing",
        "jobId": job_id,
        "rayClusterName": cluster,
        "startTime": view.now,
    }


def _suspended(view: OperatorView) -> Json:
    kept = without(view.status, "rayClusterName", "rayClusterStatus", "jobId", "startTime", "kubesimRunningMs")
    return {**kept, "jobDeploymentStatus": "Suspended", "jobStatus": ""}


def _by_submitter(view: OperatorView, status: Json, jobs: dict[str, Json]) -> Reconciled:
    if not jobs:
        running = {**status, "jobDeploymentStatus": "Running", "jobStatus": "PENDING"}
        return Reconciled(create=(_submitter(view),), status=running)
    found = next(iter(jobs.values())).get("status") or {}
    if condition_true(found, "Complete"):
        return _ended(view, status, "")
    if condition_true(found, "Failed"):
        return _ended(view, status, "the submitter failed")
    state = "RUNNING" if found.get("ready") else "PENDING"
    return Reconciled(status={**status, "jobDeploymentStatus": "Running", "jobStatus": state})


def _by_time(view: OperatorView, status: Json) -> Reconciled:
    began = int(status.get("kubesimRunningMs") or view.now_ms)
    annotations = _annotations(view)
    lasts = milliseconds(annotations.get(RUN_FOR, _DEFAULT_RUN))
    if lasts is not None and view.now_ms - began >= lasts:
        code = annotations.get(EXIT_CODE, "0")
        return _ended(view, status, "" if code == "0" else f"entrypoint exited with {code}")
    state = {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING", "kubesimRunningMs": began}
    left = 0 if lasts is None else max(1, lasts - (view.now_ms - began))
    return Reconciled(status={**status, **state}, again_ms=left)


def _ended(view: OperatorView, status: Json, why: str) -> Reconciled:
    done = {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED", "endTime": view.now}
    if why:
        done |= {
            "jobDeploymentStatus": "Failed",
            "jobStatus": "FAILED",
            "reason": "AppFailed",
            "message": why,
        }
    clusters = tuple(view.named("RayCluster").values()) if view.spec.get("shutdownAfterJobFinishes") else ()
    return Reconciled(delete=clusters, status={**status, **done})


def _annotations(view: OperatorView) -> Json:
    """What says how long the job takes: the head's template, else the job."""
    head = ((view.spec.get("rayClusterSpec") or {}).get("headGroupSpec") or {}).get("template") or {}
    of_head = (head.get("metadata") or {}).get("annotations") or {}
    found = {**(view.job["metadata"].get("annotations") or {}), **of_head}
    return {key: value for key, value in found.items() if key.startswith(PREFIX)}


def _submitter(view: OperatorView) -> Json:
    head = ((view.spec.get("rayClusterSpec") or {}).get("headGroupSpec") or {}).get("template") or {}
    given = view.spec.get("submitterPodTemplate")
    container = {"name": "ray-job-submitter", "image": "ray", "resources": _SUBMITTER}
    template = given or {"spec": {"containers": [container], "restartPolicy": "Never"}}
    metadata = template.get("metadata") or {}
    labels = {**((head.get("metadata") or {}).get("labels") or {}), **(metadata.get("labels") or {})}
    annotations = {**_annotations(view), **(metadata.get("annotations") or {})}
    pods = {**template, "metadata": {"labels": labels, "annotations": annotations}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": view.name, "labels": {"ray.io/originated-from-cr-name": view.name}},
        "spec": {"backoffLimit": 0, "template": pods},
    }
