"""Kinds that people apply beside jobs, and that are no jobs: what each is, and where it is to be applied. Pure."""

from collections.abc import Container

from fairway.wire.reasons import Code, Reason
from fairway.workloads.schedules.registry import SCHEDULES
from fairway.workloads.settings import volcano_queues

_ON_THE_HUB = "apply it on the hub with kubectl apply -f"
_THERE = "apply it in the cluster that it is to run in, or submit a"
# docs/kinds.md says why they are not placed.
_SERVICES = {
    "RayService.ray.io/v1": f"{_THERE} RayCluster",
    **dict.fromkeys(("Deployment.apps/v1", "StatefulSet.apps/v1"), f"{_THERE} Job, JobSet or LeaderWorkerSet"),
}


def no_job(name: str, api_version: str, parts: Container[str]) -> Reason | None:
    """None of a kind of which nothing is known. `parts` are the kinds in which parts of jobs stand."""
    key = f"{name}.{api_version}"
    text = remedy = ""
    if key in SCHEDULES:
        text = f"{name} makes jobs at set times, and is none itself"
        remedy = f"{_ON_THE_HUB}: each of its runs becomes a job there"
    elif key in parts:
        text = f"{name} is a part of the jobs that name it, and none itself"
        remedy = f"{_ON_THE_HUB}, or name its file and theirs in one fairway submit"
    elif key == volcano_queues.KIND:
        text = f"{name} of {api_version} is a setting, and no job"
        remedy = _ON_THE_HUB
    elif key in _SERVICES:
        text = f"{name} is a service and not a job"
        remedy = _SERVICES[key]
    return Reason(Code.UNKNOWN_KIND, text, "kind", remedy) if text else None
