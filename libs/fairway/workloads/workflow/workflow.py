"""Workflow of argoproj.io/v1alpha1: pods come and go as its templates run, so its size is an estimate.

1. With the annotation `kube-queue/min-resources` (or `koord-queue/min-resources`), YAML such as
   "cpu: 5\\nmemory: 5Gi", the whole workflow asks for that, as pods no larger than its largest template
   (one pod when no template says what it requests), and all of it must fit together.
2. Else the templates reached from the entrypoint are counted (parallelism.py) and the wave of pods
   that may run at once with the largest sum, accelerators before cpu before memory, is asked for: one pod
   set per template, at most spec.parallelism pods. There is no gang: one pod must fit for it to start.

A workflow whose templates lie elsewhere (workflowTemplateRef, templateRef) is written out first (written_out.py); as
it is it cannot be sized without 1.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.domain.batch_resources import pods_in_batch
from fairway.domain.resources import Resources
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import WORKFLOW as ENDS
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, SUCCEEDED, UNKNOWN, Phase, told
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.reading.batch_marks import pod_in_batch
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.parse import parse_amounts
from fairway.workloads.reading.pods import MOST_PODS, largest, read_amounts
from fairway.workloads.references import Find, WrittenOut
from fairway.workloads.workflow import pod_templates
from fairway.workloads.workflow.parallelism import Templates, weight
from fairway.workloads.workflow.referenced_specs import CLUSTER_WORKFLOW_TEMPLATE, WORKFLOW_TEMPLATE
from fairway.workloads.workflow.size_limits import check_bounds
from fairway.workloads.workflow.written_out import written_out

MIN_RESOURCES = ("kube-queue/min-resources", "koord-queue/min-resources")

# Nodes that work; http and plugin templates do it in the workflow's agent pod.
_AT_WORK = ("Pod", "HTTP", "Plugin")
_BEGUN = frozenset(("Running", "Succeeded", "Failed", "Error"))


class Workflow(Kind):
    name = "Workflow"
    api_version = "argoproj.io/v1alpha1"
    plural = "workflows"
    account = pod_templates.ACCOUNT
    ends = ENDS
    steady = False
    drop = (("spec", "ttlStrategy"), ("spec", "ttlSecondsAfterFinished"))
    # What Argo 3.6 asks at every look (workflow/controller/operator.go).
    in_place = (("spec", "parallelism"), ("spec", "activeDeadlineSeconds"), ("spec", "shutdown"))
    refers_to = (WORKFLOW_TEMPLATE, CLUSTER_WORKFLOW_TEMPLATE)
    holds = ()  # its pods come and go; what would be held is the room of the widest step

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        spec = manifest["spec"]
        check_bounds(spec)
        annotation = _annotation(manifest)
        templates = Templates(spec, sized=annotation.given)
        wave = templates.wave(spec["entrypoint"], spec["parallelism"].whole(0))
        sets = tuple(templates.pod_set(name, count) for name, count in wave)
        if annotation.given:
            sets = (_cut(read_amounts(parse_amounts(annotation)), sets),)
        return pods_in_batch(sets) if _in_batch(spec) else sets

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        return super().gang(manifest, pods) if _annotation(manifest).given else min(1, len(pods))

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        """Running once a pod has started: phase Running alone may mean a suspended step or a pod without a
        node."""
        status = manifest["status"]
        name = str(status["phase"].value or "")
        pods = [str(node["phase"].value) for _, node in status["nodes"].pairs() if node["type"].value in _AT_WORK]
        state = {"": PENDING, "Pending": PENDING, "Succeeded": SUCCEEDED, "Failed": FAILED, "Error": FAILED}.get(name)
        if state is None:
            # The nodes of a large workflow are compressed or kept in a database: then its phase is all there is.
            hidden = status["compressedNodes"].value or status["offloadNodeStatusVersion"].value
            started = not _BEGUN.isdisjoint(pods) or (bool(hidden) and name == "Running")
            state = UNKNOWN if name != "Running" else RUNNING if started else PENDING
        text = told(status["message"]) or f"{name or 'new'}, {len(pods)} pods so far"
        return Phase(state, text)

    def priority(self, manifest: Field) -> str:
        spec = manifest["spec"]
        return first_text(
            spec["podPriorityClassName"], *(one["priorityClassName"] for one in spec["templates"].items())
        )

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        yield ("spec", "podMetadata")
        for index in range(len(manifest["spec"].get("templates") or ())):
            yield ("spec", "templates", index, "metadata")

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        return pod_templates.pod_templates(manifest)

    def written_out(self, manifest: dict[str, Any], find: Find) -> WrittenOut:
        return written_out(manifest, find)

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        pod_templates.besides(manifest, ruling)


def _in_batch(spec: Field) -> bool:
    """Whether all of its pods say that they run on batch resources: which of them run together nobody knows."""
    if pod_in_batch(spec["podMetadata"]["labels"], spec["podPriorityClassName"]):
        return True
    for one in spec["templates"].items():
        if pod_in_batch(one["metadata"]["labels"], one["priorityClassName"]):
            remedy = "mark all pods of the workflow, in spec.podMetadata.labels or by spec.podPriorityClassName"
            one.wrong("runs on batch resources, and the workflow does not", remedy)
    return False


def _annotation(manifest: Field) -> Field:
    annotations = manifest["metadata"]["annotations"]
    one, other = (annotations[name] for name in MIN_RESOURCES)
    return one if one.given else other


def _cut(wanted: Resources, sets: tuple[PodSet, ...]) -> PodSet:
    """`wanted` as equal pods, each at most as large as the largest template."""
    pod: Resources = {}
    for one in sets:
        pod = largest(pod, one.requests)
    pieces = [-(-amount // pod[name]) for name, amount in wanted.items() if pod.get(name)]
    count = min(max([1, *pieces]), MOST_PODS)
    requests = {name: -(-amount // count) for name, amount in wanted.items()}
    biggest = max(sets, key=lambda one: weight(one.requests), default=PodSet("workflow", 1, {}))
    return PodSet("workflow", count, requests, biggest.node_selector, biggest.node_terms, biggest.tolerations)


WORKFLOW = Workflow()
