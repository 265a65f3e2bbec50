"""RayJob of ray.io/v1: a head, worker groups, and in K8sJobMode the pod that submits the job.

The submitter and the autoscaler container have KubeRay's own default sizes. A cluster that scales itself is
charged what it may grow to (maxReplicas), as nobody asks Fairway when it grows. The gang is the head, the
submitter and the workers (their minReplicas with autoscaling): without a submitter there is a cluster but
no job. "Running" needs rayClusterStatus.state "ready", which KubeRay says when every pod is up.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.domain.resources import Resources
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import RAY
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, SUCCEEDED, UNKNOWN, Phase, told
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import MOST_POD_SETS, MOST_PODS, read_pod_set, read_replicas, read_requests

# KubeRay: GetDefaultSubmitterTemplate, BuildAutoscalerContainer.
_SUBMITTER = {"requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
_AUTOSCALER: Resources = {"cpu": 500, "memory": 512 * 2**20}
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
        cluster = spec["rayClusterSpec"]
        head = read_pod_set("head", 1, cluster["headGroupSpec"]["template"], _autoscaler(cluster))
        found = {"head": head}
        for group in cluster["workerGroupSpecs"].items(MOST_POD_SETS):
            name = group["groupName"].text()
            if not name or name in found or name == "submitter":
                group["groupName"].wrong("is missing or used twice", "give every worker group its own name")
            found[name] = read_pod_set(name, _workers(group, cluster)[0], group["template"])
        if spec["submissionMode"].text("K8sJobMode") in ("K8sJobMode", ""):
            found["submitter"] = read_pod_set("submitter", 1, _submitter_template(spec))
        return tuple(found.values())

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        cluster = manifest["spec"]["rayClusterSpec"]
        total = super().gang(manifest, pods)
        if not cluster["enableInTreeAutoscaling"].flag():
            return total
        spare = (_workers(group, cluster) for group in cluster["workerGroupSpecs"].items(MOST_POD_SETS))
        return total - sum(replicas - least for replicas, least in spare)

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
        head = manifest["spec"]["rayClusterSpec"]["headGroupSpec"]
        return first_text(head.at("template", "spec", "priorityClassName"))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        cluster: Path = ("spec", "rayClusterSpec")
        yield (*cluster, "headGroupSpec", "template", "metadata")
        for index in range(len(manifest["spec"]["rayClusterSpec"].get("workerGroupSpecs") or ())):
            yield (*cluster, "workerGroupSpecs", index, "template", "metadata")
        if manifest["spec"].get("submitterPodTemplate"):
            yield ("spec", "submitterPodTemplate", "metadata")

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        """The head's autoscaler may change its pods: KubeRay makes it an account, where the head names none."""
        spec = manifest["spec"]
        cluster = spec["rayClusterSpec"]
        template = cluster.at("headGroupSpec", "template")
        scaled = cluster["enableInTreeAutoscaling"].flag()
        containers = tuple(PodView(one) for one in template.at("spec", "containers").items())
        if scaled:
            options = cluster["autoscalerOptions"]
            names = ("securityContext", "env", "envFrom")
            autoscaler = {
                "name": PodView(Field("autoscaler", spec.problems)),
                **{name: PodView(options[name]) for name in names},
            }
            containers = (*containers, PodView(options, moved=autoscaler))
        head = PodView(template.at("spec", "containers"), entries=containers)
        yield of_template(template, scaled, containers=head)
        for group in cluster["workerGroupSpecs"].items():
            yield of_template(group["template"])
        if spec["submissionMode"].text("K8sJobMode") in ("K8sJobMode", ""):
            yield of_template(_submitter_template(spec))

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        """The head's Service is made as it is given: with addresses of others it would take what is sent to them."""
        taken = manifest.at("spec", "rayClusterSpec", "headGroupSpec", "headService", "spec", "externalIPs")
        if taken.given:
            ruling.baseline(PodView(taken), "takes what is sent to addresses outside the cluster")

    def prepare(self, copy: dict[str, Any]) -> None:
        """Write KubeRay's default submitter out, so that its pod carries our labels and is counted as ours."""
        spec = copy["spec"]
        if spec.get("submitterPodTemplate") or spec.get("submissionMode") not in (None, "", "K8sJobMode"):
            return
        image = spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0].get("image")
        container = {"name": "ray-job-submitter", "image": image, "resources": _SUBMITTER}
        spec["submitterPodTemplate"] = {"spec": {"restartPolicy": "Never", "containers": [container]}}


def _autoscaler(cluster: Field) -> tuple[Resources, ...]:
    if not cluster["enableInTreeAutoscaling"].flag():
        return ()
    resources = cluster["autoscalerOptions"]["resources"]
    return (read_requests(resources) if resources.given else _AUTOSCALER,)


def _workers(group: Field, cluster: Field) -> tuple[int, int]:
    """(most pods of a group, its least pods): replicas kept within minReplicas and maxReplicas, or maxReplicas where
    the cluster scales itself, times numOfHosts."""
    if group["suspend"].flag():
        return 0, 0
    least = read_replicas(group["minReplicas"], 0)
    most = group["maxReplicas"].whole(MOST_PODS)
    if cluster["enableInTreeAutoscaling"].flag():
        if not group["maxReplicas"].given:
            group["maxReplicas"].wrong("is missing, so that the cluster may grow without end", "set it")
            return 1, 1
        replicas = most
    else:
        replicas = min(max(read_replicas(group["replicas"], 0), least), most)
    hosts = group["numOfHosts"].whole(1, 1, MOST_PODS)
    if replicas * hosts > MOST_PODS:
        group["replicas"].wrong(f"makes {replicas * hosts} pods", f"use at most {MOST_PODS}")
        return 1, 1
    return replicas * hosts, min(least, most) * hosts


def _submitter_template(spec: Field) -> Field:
    template = spec["submitterPodTemplate"]
    if template.given:
        return template
    default = {"spec": {"containers": [{"name": "ray-job-submitter", "resources": _SUBMITTER}]}}
    return Field(default, spec.problems, spec, "submitterPodTemplate")


RAYJOB = RayJob()
