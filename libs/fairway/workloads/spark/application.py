"""SparkApplication of sparkoperator.k8s.io/v1beta2: a driver and its first executors.

Sizes are Spark's own (Spark on Kubernetes, BasicDriverFeatureStep and BasicExecutorFeatureStep): cpu is
coreRequest, else cores, else 1; coreLimit is only the limit. Memory is `memory` + memoryOverhead, or + the
larger of factor x memory and 384 MiB (memory.py). What the CR leaves out may stand in sparkConf.
Without a number of executors Spark starts 2; with dynamic allocation the largest of instances,
initialExecutors, minExecutors, which with the driver is the gang; charged are maxExecutors, as nobody asks
Fairway when there are more. RUNNING is the driver's state: the gang is up only when executorState shows as many
executors.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.domain.batch_resources import in_batch, pods_in_batch
from fairway.domain.resources import Resources, parse_quantity, show
from fairway.wire.capacity import RESERVATIONS
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import SPARK as ENDS
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, SUCCEEDED, UNKNOWN, Phase, told
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.reading.batch_marks import BATCH_FIRST, ROOM_ANNOTATION, pod_in_batch, spark_in_batch
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.names import OURS
from fairway.workloads.reading.node_rules import read_selector, read_terms, read_tolerations
from fairway.workloads.reading.pods import (
    MOST_CONTAINERS,
    largest,
    pod_requests,
    read_containers,
    read_inits,
)
from fairway.workloads.spark import pods
from fairway.workloads.spark.executors import executors, kept, most_executors, number
from fairway.workloads.spark.memory import pod_memory

_UP = ("RUNNING", "COMPLETED")
_STATES = {
    "": PENDING,
    "SUBMITTED": PENDING,
    "PENDING_RERUN": PENDING,
    "INVALIDATING": PENDING,
    "SUBMISSION_FAILED": PENDING,
    "SUSPENDING": PENDING,
    "SUSPENDED": PENDING,
    "RESUMING": PENDING,
    "RUNNING": RUNNING,
    "SUCCEEDING": RUNNING,
    "FAILING": RUNNING,  # may still be rerun
    "COMPLETED": SUCCEEDED,
    "FAILED": FAILED,
}


class SparkApplication(Kind):
    name = "SparkApplication"
    api_version = "sparkoperator.k8s.io/v1beta2"
    plural = "sparkapplications"
    schedulers = ("volcano",)
    account = pods.ACCOUNT
    ends = ENDS
    steady = False
    drop = (("spec", "timeToLiveSeconds"),)
    # By each of these one says that it runs on batch resources, as the fleet's operator says.
    batch_annotations: tuple[str, ...] = ()
    holds = (RESERVATIONS,)  # spark-submit makes the pods: a gate would not reach them

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        spec = manifest["spec"]
        if spec["mode"].choice("cluster", "client", "in-cluster-client") != "cluster":
            spec["mode"].wrong("runs the driver outside the job's own pods, where it cannot be sized", "use cluster")
        for role in ("driver", "executor"):
            if not spec[role].given:
                spec[role].wrong("is missing", f"describe the {role}, if only as {{}}")
        for key, entry in spec["sparkConf"].pairs():
            if f"label.{OURS}" in key:
                entry.wrong("only Fairway sets labels under fairway.io/", "remove this label")
        found = _role(spec, "driver", 1), _role(spec, "executor", most_executors(spec))
        batch = spark_in_batch(manifest, self.batch_annotations)
        either = manifest["metadata"]["annotations"][ROOM_ANNOTATION].value == BATCH_FIRST
        return pods_in_batch(found) if batch and not either else found

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        return min(1 + executors(manifest["spec"]), super().gang(manifest, pods))

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        status = manifest["status"]
        application = status["applicationState"]
        state = application["state"].value or ""
        wanted = workload.gang_minimum - 1
        up = sum(str(one.value) in _UP for _, one in status["executorState"].pairs())
        meaning = _STATES.get(str(state), UNKNOWN)
        text = f"{state or 'new'}, {up} of {wanted} executors are up"
        if state == "RUNNING" and up < wanted:
            least = kept(manifest["spec"], wanted)
            return Phase(PENDING, text, missing=max(0, least - up), are_to_be=least)
        if meaning == PENDING:  # without a driver: it has none yet, or waits to be run again
            return Phase(PENDING, text, missing=workload.gang_minimum, are_to_be=workload.gang_minimum)
        if meaning == FAILED:
            text = told(application["errorMessage"]) or text
        return Phase(meaning, text)

    def priority(self, manifest: Field) -> str:
        spec = manifest["spec"]
        return first_text(
            spec["batchSchedulerOptions"]["priorityClassName"],
            *(spec[role]["priorityClassName"] for role in ("driver", "executor")),
            *(spec[role].at("template", "spec", "priorityClassName") for role in ("driver", "executor")),
        )

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        yield ("spec", "driver")
        yield ("spec", "executor")

    def give_way(self, pods: dict[str, Any]) -> None:
        """The operator's webhook comes after Koordinator's: what a role says of its class would win over the profile's,
        and its limit of memory would be asked for beside batch-memory."""
        spec = (pods.get("template") or {}).get("spec") or {}
        for holder in (pods, spec):
            holder.pop("priorityClassName", None)
        pods.pop("memoryLimit", None)

    def kept_from_batch(self, manifest: Field) -> Iterator[tuple[Field, str]]:
        """What the operator's webhook adds comes after Koordinator's webhook."""
        for role in ("driver", "executor"):
            field = manifest["spec"][role]
            yield field.at("template", "spec", "resources"), "write them on the containers"
            for added in ("sidecars", "initContainers"):
                for one in field[added].items(MOST_CONTAINERS):
                    yield one["resources"], f"write the container into spec.{role}.template.spec"

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        return pods.pod_templates(manifest)

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        pods.besides(manifest, ruling)


def _role(spec: Field, role: str, replicas: int) -> PodSet:
    """The pods of the driver or of the executors, with sidecars, init containers and a pod template if
    any."""
    field = spec[role]
    template = field.at("template", "spec")
    # Of the template's container that is Spark's own, cpu and memory are replaced; all else stays.
    listed = read_containers(template["containers"], required=False)
    own = _own(template["containers"], role)
    main = {**(listed[own] if listed else {}), **_main(spec, field, role)}
    others = [*listed[:own], *listed[own + 1 :]]
    sidecars = read_containers(field["sidecars"], required=False)
    inits = read_inits(field["initContainers"]) + read_inits(template["initContainers"])
    affinity = field["affinity"] if field["affinity"].given else template["affinity"]
    requests = pod_requests([main, *sidecars, *others], inits)
    return PodSet(
        name=role,
        count=replicas,
        requests=in_batch(requests) if pod_in_batch(_labels(field), *_classes(field, template)) else requests,
        node_selector={
            **read_selector(spec["nodeSelector"]),
            **read_selector(template["nodeSelector"]),
            **read_selector(field["nodeSelector"]),
        },
        node_terms=read_terms(affinity, template["nodeName"]),
        tolerations=read_tolerations(field["tolerations"]) + read_tolerations(template["tolerations"]),
        scheduler=field["schedulerName"].text() or template["schedulerName"].text() or spec["batchScheduler"].text(),
    )


def _own(containers: Field, role: str) -> int:
    """Which one is Spark's own: the one of the name that the operator tells it, else the first."""
    names = [one["name"].value for one in containers.items(MOST_CONTAINERS)]
    name = f"spark-kubernetes-{role}"
    return names.index(name) if name in names else 0


def _labels(field: Field) -> Field:
    """Those of the pod: the role's own win over those of its template."""
    own = field["labels"]
    below = field.at("template", "metadata")["labels"]
    return Field({**below.mapping(), **own.mapping()}, own.problems, own.up, own.key)


def _classes(field: Field, template: Field) -> tuple[Field, Field]:
    return field["priorityClassName"], template["priorityClassName"]


def _main(spec: Field, field: Field, role: str) -> Resources:
    """Requests of the Spark container itself."""
    conf = spec["sparkConf"]
    requests = {"cpu": _cpu(field, conf, role), "memory": pod_memory(spec, role)}
    amount = conf[f"spark.{role}.resource.gpu.amount"]
    if field["gpu"].given:
        name = field["gpu"]["name"].text()
        if "/" not in name:
            field["gpu"]["name"].wrong(f"is {shown(name)}, not a resource name", "write it as nvidia.com/gpu")
        requests = largest(requests, {name: field["gpu"]["quantity"].whole(0, 0, 1024)})
    elif amount.given:
        vendor = conf[f"spark.{role}.resource.gpu.vendor"].text("nvidia.com")
        requests = largest(requests, {f"{vendor}/gpu": number(Field(None, amount.problems), amount, 0)})
    return requests


def _cpu(field: Field, conf: Field, role: str) -> int:
    """Millicores of a Spark pod."""
    places = (
        field["coreRequest"],
        conf[f"spark.kubernetes.{role}.request.cores"],
        field["cores"],
        conf[f"spark.{role}.cores"],
    )
    given = next((place for place in places if place.given), None)
    cpu = 1000 if given is None else _quantity(given)
    limit = field["coreLimit"]
    if given is not None and limit.given and _quantity(limit) < cpu:
        limit.wrong(
            f"is {limit.value}, below the request of {show('cpu', cpu)} cpu",
            "raise it; Kubernetes refuses such a pod",
        )
    return cpu


def _quantity(field: Field) -> int:
    try:
        return parse_quantity("cpu", field.value)
    except ValueError as error:
        field.wrong(str(error), "write a number of cores such as 1 or 500m")
        return 0


SPARK = SparkApplication()
