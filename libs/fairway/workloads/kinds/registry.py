"""Every kind Fairway knows, and the two questions: what does a manifest need, how does it stand."""

from collections.abc import Callable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from fairway.domain.resources import LARGEST
from fairway.domain.tenancy.profile import Tenancy
from fairway.wire.reasons import Code, Reason, Refused
from fairway.wire.workload import Workload
from fairway.workloads.appwrapper.appwrapper import AppWrapper
from fairway.workloads.kinds.batch_job import JOB
from fairway.workloads.kinds.jobset import JOBSET
from fairway.workloads.kinds.kind import Kind
from fairway.workloads.kinds.kubeflow import KUBEFLOW
from fairway.workloads.kinds.leaderworkerset import LEADERWORKERSET
from fairway.workloads.kinds.no_jobs import no_job
from fairway.workloads.kinds.phase import Phase
from fairway.workloads.kinds.single_pod import POD
from fairway.workloads.kinds.volcano import VOLCANO
from fairway.workloads.pod_security.check import check
from fairway.workloads.ray.raycluster import RAYCLUSTER
from fairway.workloads.ray.rayjob import RAYJOB
from fairway.workloads.reading.batch_marks import ROOM_ANNOTATION, check_converted, in_room, room_said
from fairway.workloads.reading.fields import Field, Problems, shown
from fairway.workloads.reading.names import check_annotations, check_labels, is_label_value, read_name, read_namespace
from fairway.workloads.reading.parse import more_than
from fairway.workloads.reading.pods import MOST_POD_SETS
from fairway.workloads.reading.preemptible import EVICT_NOTICE
from fairway.workloads.spark.application import SPARK, SparkApplication
from fairway.workloads.trainjob.trainjob import TRAINJOB
from fairway.workloads.workflow.workflow import WORKFLOW

_BUILT_IN: tuple[Kind, ...] = (
    *KUBEFLOW,
    SPARK,
    VOLCANO,
    WORKFLOW,
    JOB,
    JOBSET,
    TRAINJOB,
    RAYJOB,
    RAYCLUSTER,
    LEADERWORKERSET,
    POD,
)
_known: dict[str, Kind] = {kind.key: kind for kind in _BUILT_IN}
# Components may be of any of them, and of what is declared.
APPWRAPPER = AppWrapper(_known)
_known[APPWRAPPER.key] = APPWRAPPER
KINDS: Mapping[str, Kind] = MappingProxyType(_known)

# Annotations under fairway.io/ that a job may carry; other settings stand on the policy.
JOB_ANNOTATIONS: frozenset[str] = frozenset((ROOM_ANNOTATION, EVICT_NOTICE))

# Every node of every cluster is held against these: labels, expressions and tolerations of the pod sets that differ,
# and the values of the expressions. Eight of the first for each pod set, and all nodes by name in the largest cluster
# measured.
MOST_NODE_RULES = 2_048
MOST_NODE_VALUES = 5_000
# A mebibyte has room for 350,000, and what one costs its reader is some microseconds. The largest of 514
# manifests that come with the operators has 192; a Workflow may have 5,000 steps, with four values each and more.
MOST_VALUES = 50_000
# A job's labels stand in its row, and in what is said of it.
MOST_LABELS = 256


def declare(kind: Kind) -> None:
    """Adds a kind for the rest of this process; ValueError when it is known already. Every process of a fleet has to
    know the same kinds, so this is for start-up alone."""
    if kind.key in _known:
        raise ValueError(f"{kind.key} is known already; take its declaration away")
    _known[kind.key] = kind


def referred_kinds() -> tuple[str, ...]:
    """Of the objects in which parts of jobs may stand."""
    return tuple(sorted({kind for one in _known.values() for kind in one.refers_to}))


def run_as(kind: str, account: str) -> None:
    """For the rest of this process: the service account of the pods of all kinds of that name which cannot do without
    a token. KeyError when none is such a kind."""
    found = [known for known in _known.values() if known.name == kind and known.account]
    if not found:
        raise KeyError(kind)
    for known in found:
        _known[known.key] = copy(known)
        _known[known.key].account = account


def spark_on_batch_resources(annotations: tuple[str, ...]) -> None:
    """For the rest of this process: by each of these a SparkApplication says that it runs on batch resources."""
    spark = copy(_known[SPARK.key])
    assert isinstance(spark, SparkApplication), "SparkApplication is built in"
    spark.batch_annotations = annotations
    _known[SPARK.key] = spark


def read(
    manifest: dict[str, Any],
    kinds: Mapping[str, Kind] = KINDS,
    may: Callable[[str], Tenancy] = Tenancy,
    size: int | None = None,
) -> Workload:
    """What a job asks for, when its pods ask for nothing that its namespace may not: `may` says what that is, and
    without it only what everybody may. `size`: how many bytes of JSON it is, if that is known. Raises Refused with
    every reason found, each with its field and a remedy."""
    root = Field(manifest, Problems())
    workload = _read(root, kinds, size)
    check_converted(workload, kinds[workload.key].kept_from_batch(root))
    check(kinds[workload.key], root, may(workload.namespace))
    root.problems.stop()
    return workload


def read_unchecked(manifest: dict[str, Any], kinds: Mapping[str, Kind] = KINDS) -> Workload:
    """As `read`, without a word about its pods: for what is known of an object that will not be run for it."""
    return _read(Field(manifest, Problems()), kinds)


def _read(root: Field, kinds: Mapping[str, Kind], size: int | None = None) -> Workload:
    problems = root.problems
    manifest = root.value
    kind = _kind_of(root, kinds)
    if more_than(MOST_VALUES, manifest, size):
        remedy = "keep data in a ConfigMap or a volume, or make several jobs of it"
        raise Refused(Reason(Code.TOO_LARGE, f"has more than {MOST_VALUES} fields and values", "spec", remedy))
    metadata = root["metadata"]
    _check_metadata(metadata)
    namespace = read_namespace(metadata["namespace"])
    name = read_name(metadata["name"], kind.name_limit, kind.makes_services)
    pods = tuple(one for one in kind.pod_sets(root) if one.count)
    room = room_said(metadata["annotations"])
    if not pods and not problems:
        root["spec"].wrong("asks for no pods at all", "set at least one replica")
    gang = kind.gang(root, pods)
    work = Workload(kind.api_version, kind.name, namespace, name, pods, gang)
    check_totals(root["spec"], work)
    found = in_room(work, room)
    if isinstance(found, Reason):
        raise Refused(*problems.reasons, found)
    priority = kind.priority(root)
    kind.queue(root)
    problems.stop()
    for path in kind.label_paths(manifest):
        _check_metadata(root.at(*path))
    problems.stop()
    wrapped = tuple(sorted({one.kind.key for one in kind.wrapped_objects(manifest)}))
    return replace(found, priority_class=priority, wrapped_kinds=wrapped)


def status(
    manifest: dict[str, Any],
    workload: Workload,
    status: dict[str, Any] | None,
    kinds: Mapping[str, Kind] = KINDS,
) -> Phase:
    """What `status` means of the member's object."""
    kind = kinds[f"{manifest['kind']}.{manifest['apiVersion']}"]
    return kind.phase(workload, Field({**manifest, "status": status}, Problems()))


def _kind_of(root: Field, kinds: Mapping[str, Kind]) -> Kind:
    api_version = root["apiVersion"].text()
    name = root["kind"].text()
    kind = kinds.get(f"{name}.{api_version}")
    if kind is not None:
        return kind
    if why := no_job(name, api_version, referred_kinds()):
        raise Refused(*root.problems.reasons, why)
    served = sorted(known.api_version for known in kinds.values() if known.name == name)
    if served:
        field = "apiVersion"
        text = f"{shown(api_version)} of {name} is not known"
        remedy = f"use {' or '.join(served)}"
    else:
        field = "kind"
        text = f"{shown(name)} of {shown(api_version)} is not a job kind Fairway knows"
        remedy = f"use one of {', '.join(sorted({known.name for known in kinds.values()}))}, or declare the kind"
    raise Refused(*root.problems.reasons, Reason(Code.UNKNOWN_KIND, text, field, remedy))


def _check_metadata(metadata: Field) -> None:
    labels = metadata["labels"]
    if (count := len(labels.mapping())) > MOST_LABELS:
        labels.wrong(f"has {count} labels", f"use at most {MOST_LABELS}; annotations hold what selects nothing")
    check_labels(labels)
    check_annotations(metadata["annotations"], JOB_ANNOTATIONS)


def check_totals(spec: Field, workload: Workload) -> None:
    """The whole job in one int64, so that no sum of a ledger or a quota can pass what stores hold."""
    if len(workload.pod_sets) > MOST_POD_SETS:
        spec.wrong(f"makes {len(workload.pod_sets)} pod sets", f"use at most {MOST_POD_SETS}")
    _check_nodes(spec, workload)
    total: dict[str, int] = {}
    for pods in workload.pod_sets:
        if not pods.name or not is_label_value(pods.name):
            spec.wrong(f"names a pod set {shown(pods.name)}, which no label can hold", "use letters, digits and -")
        for name, amount in pods.requests.items():
            total[name] = total.get(name, 0) + amount * pods.count
    for name, amount in total.items():
        if amount > LARGEST:
            spec.wrong(f"asks for more {name} over all pods than 2^63-1", "check replicas and suffixes")


def _check_nodes(spec: Field, workload: Workload) -> None:
    asked = {
        (tuple(one.node_selector.items()), one.node_terms, one.tolerations)
        for one in workload.pod_sets
        if one.node_selector or one.node_terms or one.tolerations
    }
    if not asked:
        return
    rules = sum(len(labels) + sum(map(len, terms)) + len(tolerations) for labels, terms, tolerations in asked)
    values = sum(len(part.values) for _, terms, _ in asked for term in terms for part in term)
    for count, most, what in (
        (rules, MOST_NODE_RULES, "labels, expressions and tolerations"),
        (values, MOST_NODE_VALUES, "values of labels"),
    ):
        if count > most:
            remedy = f"use at most {most}; nodes that are alike can have a label that they share"
            spec.wrong(f"asks for nodes by {count} {what}", remedy)


__all__ = [
    "JOB_ANNOTATIONS",
    "KINDS",
    "Kind",
    "Phase",
    "declare",
    "read",
    "read_unchecked",
    "referred_kinds",
    "run_as",
    "spark_on_batch_resources",
    "status",
]
