"""What one pod of a template requests, as the Kubernetes scheduler counts it.

A pod needs max(containers + sidecars, the largest init container with the sidecars started before it) +
overhead (KEP-753; core component-helpers resource.PodRequests). Requests default to limits. Pod-level
resources (KEP-2837) replace the sum for the resources they name.
"""

from collections.abc import Iterable, Sequence

from fairway.domain.batch_resources import in_batch
from fairway.domain.resources import Resources, add, parse_quantity, show
from fairway.wire.workload import PodSet
from fairway.workloads.reading.batch_marks import pod_in_batch
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.names import is_label_key
from fairway.workloads.reading.node_rules import read_selector, read_terms, read_tolerations

# Per pod set. The largest gangs published are of some ten thousand pods; more is a typing error.
MOST_PODS = 100_000
# More roles than any job known; it bounds what one job can cost the scheduler, and what its reader looks at.
MOST_POD_SETS = 256
# Of each list of a pod: its containers, its init containers and those that are added later. The largest pods known have
# some twenty; each is looked at several times, and a mebibyte has room for 350,000.
MOST_CONTAINERS = 100
# More than any node reports; every stage after this one walks over them.
MOST_RESOURCES = 64


def largest(left: Resources, right: Resources) -> Resources:
    """The larger amount of each name."""
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in {**left, **right}}


def pod_requests(containers: Iterable[Resources], inits: Iterable[tuple[Resources, bool]]) -> Resources:
    """Requests of one pod without its overhead; an init container is (requests, whether it is a sidecar)."""
    sidecars: Resources = {}
    peak: Resources = {}
    for requests, is_sidecar in inits:
        if is_sidecar:
            sidecars = add(sidecars, requests)
            peak = largest(peak, sidecars)
        else:
            peak = largest(peak, add(sidecars, requests))
    running = sidecars
    for requests in containers:
        running = add(running, requests)
    return largest(running, peak)


def read_amounts(field: Field, most: int = MOST_RESOURCES) -> Resources:
    """A mapping of resource names to quantities, in base units."""
    amounts: Resources = {}
    if len(field.mapping()) > most:
        field.wrong(f"names {len(field.mapping())} resources", f"use at most {most}")
        return amounts
    for name, quantity in field.pairs():
        if not is_label_key(name):
            quantity.wrong(f"{shown(name)} is not a resource name", "check its spelling")
            continue
        try:
            amounts[name] = parse_quantity(name, quantity.value)
        except ValueError as error:
            cause, _, remedy = str(error).partition("; ")
            quantity.wrong(cause, remedy or "write a quantity such as 500m or 8Gi")
    return amounts


def is_extended(name: str) -> bool:
    """A resource of a device plugin, such as nvidia.com/gpu: core/v1/helper IsExtendedResourceName."""
    return "/" in name and "kubernetes.io/" not in name


def read_requests(resources: Field) -> Resources:
    """Requests of one container: what is not requested is what is limited."""
    requests = read_amounts(resources["requests"])
    limits = read_amounts(resources["limits"])
    for name, amount in requests.items():
        if is_extended(name) and amount != limits.get(name):
            resources["requests"][name].wrong(
                f"asks for {amount} but the limit is {limits.get(name, 'missing')}",
                "set the same number as limit; Kubernetes does not overcommit extended resources",
            )
        elif amount > limits.get(name, amount):
            resources["requests"][name].wrong(
                f"asks for {show(name, amount)}, above its own limit of {show(name, limits[name])}",
                "raise the limit or lower the request; Kubernetes refuses such a pod",
            )
    return {**limits, **requests}


def read_containers(containers: Field, required: bool = True) -> list[Resources]:
    """Requests of every container of a list that must not be empty."""
    found = containers.items(MOST_CONTAINERS)
    if required and containers.value in (None, []):
        containers.wrong("has no container", "a pod needs at least one container")
    return [read_requests(container["resources"]) for container in found]


def read_inits(inits: Field) -> list[tuple[Resources, bool]]:
    """Requests of the init containers in their order; restartPolicy Always makes one a sidecar."""
    return [
        (read_requests(container["resources"]), container["restartPolicy"].value == "Always")
        for container in inits.items(MOST_CONTAINERS)
    ]


def read_pod(spec: Field, extra: Sequence[Resources] = (), first: Sequence[Resources] = ()) -> Resources:
    """Requests of one pod of a pod spec; `extra` are containers that an operator adds to it, `first` its inits."""
    inits = [*read_inits(spec["initContainers"]), *((requests, False) for requests in first)]
    requests = pod_requests([*read_containers(spec["containers"]), *extra], inits)
    whole = spec["resources"]
    if whole.given:
        limits = read_amounts(whole["limits"])
        requests = {**limits, **requests, **read_amounts(whole["requests"])}
    return add(requests, read_amounts(spec["overhead"]))


def read_pod_set(
    name: str, replicas: int, template: Field, extra: Sequence[Resources] = (), first: Sequence[Resources] = ()
) -> PodSet:
    """A pod set of `replicas` pods of a pod template; `extra` and `first` as for one pod."""
    spec = template["spec"]
    requests = read_pod(spec, extra, first)
    batch = pod_in_batch(template["metadata"]["labels"], spec["priorityClassName"])
    return PodSet(
        name=name,
        count=replicas,
        requests=in_batch(requests) if batch else requests,
        node_selector=read_selector(spec["nodeSelector"]),
        node_terms=read_terms(spec["affinity"], spec["nodeName"]),
        tolerations=read_tolerations(spec["tolerations"]),
        scheduler=spec["schedulerName"].text(),
    )


def read_replicas(field: Field, default: int = 1) -> int:
    """A number of pods, from 0 to MOST_PODS."""
    return field.whole(default, 0, MOST_PODS)
