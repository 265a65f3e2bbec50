"""What `kinds.registry.read` says of the manifests of usual kinds, read from structs."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct, defstruct, field

from fairway.domain.tenancy.profile import Tenancy
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.kinds.batch_job import JOB
from fairway.workloads.kinds.kind import Kind
from fairway.workloads.kinds.kubeflow import ADDED, KUBEFLOW, KubeflowJob
from fairway.workloads.kinds.registry import KINDS, MOST_VALUES, check_totals
from fairway.workloads.kinds.volcano import EVERYBODYS, PLUGINS, VOLCANO
from fairway.workloads.pod_security.check import bound
from fairway.workloads.pod_security.marks import quiet_marks
from fairway.workloads.pod_security.tenant import SCHEDULERS
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.reading.names import OURS, is_namespace, read_name, read_namespace
from fairway.workloads.typed.pods import NotPlain, PodTemplate, names_others, plain_labels, read_pods
from fairway.workloads.typed.specs import BatchSpec, ManifestHead, RoleSpec, TrainingSpec, VolcanoSpec

# Whether a longer one has too many values has to be counted (reading.parse.more_than).
_LONGEST = 2 * MOST_VALUES
# Pod sets, gang, priority class, whether it is quiet.
_Found = tuple[tuple[PodSet, ...], int, str, bool]


def _training(kind: KubeflowJob, spec: TrainingSpec) -> _Found:
    """As KubeflowJob reads it."""
    wanted = {role.lower(): role for role in kind.roles}
    found = {wanted[key.lower()]: role for key, role in spec.replicas.items() if key.lower() in wanted}
    if len(found) != len(spec.replicas):
        raise NotPlain
    pods = []
    for name in kind.roles:
        if (role := found.get(name)) is not None:
            count = 1 if role.replicas is None else role.replicas
            pods.append(read_pods(name, count, role.template, ADDED.get((kind.key, name), ())))
    policy = spec.run_policy.scheduling_policy if spec.run_policy is not None else None
    least = policy.min_available if policy is not None else None
    templates = [found[one.name].template for one in pods]
    quiet = policy is None and spec.success_policy is None and not any(map(names_others, templates))
    return tuple(pods), _gang(pods, least), _class(templates), quiet


def _gang(pods: list[PodSet], least: int | None, otherwise: int = 0) -> int:
    """`least` of all pods start together, or as many as `otherwise` says, or all."""
    total = sum(one.count for one in pods)
    least = least or otherwise or total
    if least > total:
        raise NotPlain
    return least


def _class(templates: list[PodTemplate]) -> str:
    return next((name for one in templates if (name := one.spec.priority_class_name)), "")


def _batch(kind: Kind, spec: BatchSpec) -> _Found:
    """As BatchJob reads it."""
    parallel = 1 if spec.parallelism is None else spec.parallelism
    count = parallel if spec.completions is None else min(parallel, spec.completions)
    pods = [read_pods("pod", count, spec.template)]
    told = (spec.pod_failure_policy, spec.selector, spec.success_policy)
    quiet = told == (None, None, None) and not names_others(spec.template)
    return tuple(pods), _gang(pods, None), _class([spec.template]), quiet


def _volcano(kind: Kind, spec: VolcanoSpec) -> _Found:
    """As VolcanoJob reads it."""
    schedulers = (None, *SCHEDULERS, *kind.schedulers)
    queued = spec.queue not in ("", EVERYBODYS)
    if queued or spec.scheduler_name not in schedulers or not PLUGINS.issuperset(spec.plugins):
        raise NotPlain
    pods = []
    start = 0
    for index, task in enumerate(spec.tasks):
        count = task.replicas or 0
        least = count if task.min_available is None else task.min_available
        name = task.name or f"default{index}"
        if least > count or not is_namespace(name):
            raise NotPlain
        start += least
        pods.append(read_pods(name, count, task.template))
    if len({one.name for one in pods}) < len(pods):
        raise NotPlain
    templates = [task.template for task in spec.tasks]
    told = [spec.policies, *(one for task in spec.tasks for one in (task.policies, task.depends_on))]
    quiet = not spec.queue and not any(told) and not any(map(names_others, templates))
    return tuple(pods), _gang(pods, spec.min_available, start), _class(templates), quiet


class TypedManifest(Struct, frozen=True):
    """`head` is what of the manifest says which object it is and how it is marked; `workload` what the job asks for.
    It is `quiet` when no other object can be named in the rest (`reading.named_objects`, `companions.named`)."""

    head: dict[str, Any]
    workload: Workload
    quiet: bool


def _spec_of(kind: KubeflowJob) -> type[Struct]:
    fields = [("replicas", dict[str, RoleSpec], field(name=kind.specs))]
    return defstruct(f"{kind.name}Spec", fields, bases=(TrainingSpec,), kw_only=True)


# By the key of a kind: how its spec is decoded, and read.
_SPECS: dict[str, tuple[Callable[[Raw], Any], Callable[[Any, Any], _Found]]] = {
    JOB.key: (msgspec.json.Decoder(BatchSpec).decode, _batch),
    VOLCANO.key: (msgspec.json.Decoder(VolcanoSpec).decode, _volcano),
    **{kind.key: (msgspec.json.Decoder(_spec_of(kind)).decode, _training) for kind in KUBEFLOW},
}
_decode = msgspec.json.Decoder(ManifestHead).decode


def read_typed(data: Raw, tenancy: Tenancy) -> TypedManifest | None:
    """What the manifest of a namespace that may do this says, for `kinds.registry.read` would say the same; None of one
    that is for that to read."""
    if memoryview(data).nbytes > _LONGEST or bound(tenancy):
        return None
    try:
        return _read(_decode(data), tenancy.namespace)
    except (NotPlain, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _read(head: ManifestHead, namespace: str) -> TypedManifest:
    key = f"{head.kind}.{head.api_version}"
    known = _SPECS.get(key)
    meta = head.metadata
    if known is None or not plain_labels(meta.labels) or not _plain_annotations(meta.annotations):
        raise NotPlain
    decode, read = known
    kind = KINDS[key]
    found, gang, priority, quiet = read(kind, decode(head.spec))
    pods = tuple(one for one in found if one.count)
    problems = Problems()
    where = read_namespace(Field(meta.namespace, problems))
    name = read_name(Field(meta.name, problems), kind.name_limit, kind.makes_services)
    workload = Workload(kind.api_version, kind.name, where, name, pods, gang, priority)
    check_totals(Field(None, problems), workload)
    if problems or not pods or where != namespace:
        raise NotPlain
    said = {"name": name, "namespace": meta.namespace, "labels": meta.labels, "annotations": meta.annotations}
    quiet = quiet and head.status is None
    return TypedManifest({"apiVersion": kind.api_version, "kind": kind.name, "metadata": said}, workload, quiet)


def _plain_annotations(annotations: dict[str, str] | None) -> bool:
    """Whether none of them is ours, or obeyed by anybody."""
    return not annotations or (quiet_marks(annotations) and not any(key.startswith(OURS) for key in annotations))
