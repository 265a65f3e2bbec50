"""RayJob of ray.io/v1: a head, worker groups, and in K8sJobMode the pod that submits the job.

The submitter has KubeRay's own default size. The gang is the head, the submitter and the workers (their minReplicas
with autoscaling): without a submitter there is a cluster but no job. "Running" needs rayClusterStatus.state "ready",
which KubeRay says when every pod is up.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import RAY
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, SUCCEEDED, UNKNOWN, Phase, told
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.ray import cluster_spec
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import read_pod_set

# KubeRay: GetDefaultSubmitterTemplate.
_SUBMITTER = {"requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
_WAITING = ("", "Initializing", "Waiting", "Retrying", "Suspending", "Suspended")


class RayJob(Kind):
    name = "RayJob"
    api_version = "ray.io/v1"
    plural = "rayjobs"
    ends = RAY
    managed_by = ("spec", "managedBy")
    # KubeRay 1.3 asks these anew at every look. Of a changed rayClusterSpec it makes nothing while the cluster is there
    # (controllers/ray/rayjob_controller.go).
    in_place = (("spec", "activeDeadlineSeconds"), ("spec", "backoffLimit"))
    name_limit = 47  # KubeRay refuses longer names: it appends to them for the cluster's Services

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        spec = manifest["spec"]
        if spec["clusterSelector"].value:
            spec["clusterSelector"].wrong(
                "runs the job in a RayCluster that exists in one member already, so there is nothing to place",
                "give the job its own rayClusterSpec",
            )
            return ()
        found = cluster_spec.read_pod_sets(spec["rayClusterSpec"], ("submitter",))
        if _has_submitter(spec):
            found["submitter"] = read_pod_set("submitter", 1, _submitter_template(spec))
        return tuple(found.values())

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        return super().gang(manifest, pods) - cluster_spec.spare(manifest["spec"]["rayClusterSpec"])

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        status = manifest["status"]
        deployment = str(status["jobDeploymentStatus"].value or "")
        job = str(status["jobStatus"].value or "")
        cluster = status["rayClusterStatus"]
        text = told(status["message"]) or f"{deployment or 'new'}, job {job or 'not started'}"
        state = UNKNOWN
        if deployment in _WAITING:
            state = PENDING
        elif deployment == "Running":
            state = RUNNING if cluster["state"].value == "ready" else PENDING
        elif deployment == "Complete":
            state = {"SUCCEEDED": SUCCEEDED, "FAILED": FAILED, "STOPPED": FAILED}.get(job, UNKNOWN)
        elif deployment in ("Failed", "ValidationFailed"):
            state = FAILED
        return Phase(state, text)

    def priority(self, manifest: Field) -> str:
        return first_text(cluster_spec.priority_class(manifest["spec"]["rayClusterSpec"]))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        yield from cluster_spec.label_paths(manifest["spec"]["rayClusterSpec"], ("spec", "rayClusterSpec"))
        if manifest["spec"].get("submitterPodTemplate"):
            yield ("spec", "submitterPodTemplate", "metadata")

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        spec = manifest["spec"]
        yield from cluster_spec.pod_templates(spec["rayClusterSpec"])
        if _has_submitter(spec):
            yield of_template(_submitter_template(spec))

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        cluster_spec.check_head_service(manifest["spec"]["rayClusterSpec"], ruling)

    def prepare(self, copy: dict[str, Any]) -> None:
        """Write KubeRay's default submitter out, so that its pod carries our labels and is counted as ours."""
        spec = copy["spec"]
        if spec.get("submitterPodTemplate") or spec.get("submissionMode") not in (None, "", "K8sJobMode"):
            return
        image = spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0].get("image")
        container = {"name": "ray-job-submitter", "image": image, "resources": _SUBMITTER}
        spec["submitterPodTemplate"] = {"spec": {"restartPolicy": "Never", "containers": [container]}}


def _has_submitter(spec: Field) -> bool:
    return spec["submissionMode"].text("K8sJobMode") in ("K8sJobMode", "")


def _submitter_template(spec: Field) -> Field:
    template = spec["submitterPodTemplate"]
    if template.given:
        return template
    default = {"spec": {"containers": [{"name": "ray-job-submitter", "resources": _SUBMITTER}]}}
    return Field(default, spec.problems, spec, "submitterPodTemplate")


RAYJOB = RayJob()
