"""Job of batch.volcano.sh/v1alpha1: every task is a pod set; the gang is minAvailable over all of them.

Defaults are those of Volcano's own webhook: a task without a name is `default<index>`; without minAvailable
the gang is the sum of the tasks' minAvailable, which default to their replicas. Volcano starts the gang or
nothing, so its phase is honest.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import VOLCANO as ENDS
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.kubeflow import minimum
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, SUCCEEDED, UNKNOWN, Phase, told
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.tenant import priority as check_priority
from fairway.workloads.pod_security.tenant import scheduler as check_scheduler
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.names import is_namespace, read_name
from fairway.workloads.reading.pods import MOST_POD_SETS, read_pod_set, read_replicas

# The queue that every installation has, and that a Job without one gets.
EVERYBODYS = "default"
_STATES = {
    "": PENDING,
    "Pending": PENDING,
    "Running": RUNNING,
    "Restarting": RUNNING,
    "Completing": RUNNING,
    "Completed": SUCCEEDED,
    "Failed": FAILED,
    "Terminated": FAILED,
    "Aborted": FAILED,
}
# Of Volcano 1.10 (pkg/controllers/job/plugins): they add names, variables, ports and what the job itself shares, a
# ConfigMap and a Secret of its own. Their arguments say no more than ports, names of tasks and paths in containers.
PLUGINS = frozenset(("env", "mpi", "pytorch", "ssh", "svc", "tensorflow"))


class VolcanoJob(Kind):
    name = "Job"
    api_version = "batch.volcano.sh/v1alpha1"
    plural = "jobs"
    schedulers = ("volcano",)
    ends = ENDS
    suspend_path = ()
    drop = (("spec", "ttlSecondsAfterFinished"),)
    # What its webhook lets pass (validateJobUpdate of Volcano 1.10).
    in_place = (("spec", "minAvailable"), ("spec", "tasks", "*", "replicas"), ("spec", "tasks", "*", "minAvailable"))
    holds = ()  # Volcano minds neither Reservations nor nominations

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        tasks = manifest["spec"]["tasks"]
        if tasks.value in (None, []):
            tasks.wrong("is empty", "add a task with replicas and a template")
        found: dict[str, PodSet] = {}
        for index, task in enumerate(tasks.items(MOST_POD_SETS)):
            name = task["name"].text() or f"default{index}"
            if not is_namespace(name):
                task["name"].wrong("is not a task name (RFC 1123 label)", "use lower-case letters, digits and -")
            if name in found:
                task["name"].wrong(f"is a second {name}", "give every task its own name")
                name = f"{name} again, at {index}"
            # Volcano's CRD has no default: a task without replicas has none.
            found[name] = read_pod_set(name, read_replicas(task["replicas"], 0), task["template"])
        return tuple(found.values())

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        least = 0
        for task in manifest["spec"]["tasks"].items(MOST_POD_SETS):
            replicas = read_replicas(task["replicas"], 0)
            of_task = read_replicas(task["minAvailable"], replicas)
            if of_task > replicas:
                task["minAvailable"].wrong(
                    f"asks for {of_task} pods, but the task has {replicas}", f"use at most {replicas}"
                )
            least += of_task
        total = super().gang(manifest, pods)
        field = manifest["spec"]["minAvailable"]
        return minimum(field, total) if field.value else min(least, total) or total

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        state = manifest["status"]["state"]
        name = str(state["phase"].value or "")
        # Aborting and Terminating pass: they say neither that the job runs nor that it ended.
        meaning = _STATES.get(name, UNKNOWN)
        text = ": ".join(filter(None, (name or "new", told(state["reason"], state["message"]))))[:500]
        return Phase(meaning, text)

    def priority(self, manifest: Field) -> str:
        spec = manifest["spec"]
        return first_text(
            spec["priorityClassName"],
            *(task.at("template", "spec", "priorityClassName") for task in spec["tasks"].items(MOST_POD_SETS)),
        )

    def queue(self, manifest: Field) -> str:
        field = manifest["spec"]["queue"]
        return "" if field.text() in ("", EVERYBODYS) else read_name(field)

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        for index in range(len(manifest["spec"]["tasks"])):
            yield ("spec", "tasks", index, "template", "metadata")

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        for task in manifest["spec"]["tasks"].items():
            yield of_template(task["template"])

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        spec = manifest["spec"]
        check_priority(PodView(spec["priorityClassName"]), ruling)
        check_scheduler(PodView(spec["schedulerName"]), ruling, self.schedulers)
        for name, plugin in spec["plugins"].pairs():
            plugin.texts()
            if name not in PLUGINS:
                ruling.unseen(
                    PodView(plugin), f"{shown(name)} is a plugin, and Fairway does not know what it makes of pods"
                )

    def prepare(self, copy: dict[str, Any]) -> None:
        """Write out the name that Volcano would give a task without one."""
        for index, task in enumerate(copy["spec"]["tasks"]):
            task["name"] = task.get("name") or f"default{index}"


VOLCANO = VolcanoJob()
