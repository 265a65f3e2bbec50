"""A manifest that cannot run is refused with its field, what is wrong and what to do, all reasons at once."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fairway.wire.reasons import Code, Refused
from fairway.workloads.kinds import registry
from tests.spec.workloads.builders import batch_job, refusal, with_at

CONTAINER = "spec.template.spec.containers"
POD = "spec.template.spec"
GPU = [{"resources": {"requests": {"nvidia.com/gpu": 1}}}]

OURS = {"fairway.io/job": "x"}
ON_PODS = "spec.template.metadata.labels"
REQUESTS = f"{CONTAINER}[0].resources.requests"

MANY_LABELS = {f"k{n}": "v" for n in range(257)}
MANY_TOLERATIONS = [{"key": f"k{n}", "operator": "Exists"} for n in range(2_049)]
EXISTS = {"key": "a", "operator": "Exists"}
VALUES = {"key": "a", "operator": "In", "values": [f"v{n}" for n in range(5_001)]}


def nodes(*expressions: dict[str, Any]) -> dict[str, Any]:
    """A term for each."""
    terms = [{"matchExpressions": [one]} for one in expressions]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


REFUSED: list[tuple[str, str, Any, str, str]] = [
    ("no name", "metadata.name", None, "metadata.name", "is missing"),
    ("a name with a newline", "metadata.name", "one\n", "metadata.name", "RFC 1123"),
    ("a name with wildcards of a subject", "metadata.name", "a.>", "metadata.name", "RFC 1123"),
    ("a name of 64 characters", "metadata.name", "a" * 64, "metadata.name", "64 characters"),
    ("a namespace with a dot", "metadata.namespace", "a.b", "metadata.namespace", "RFC 1123"),
    ("a label of ours", "metadata.labels", OURS, "metadata.labels['fairway.io/job']", "only Fairway"),
    ("ours on pods", "spec.template.metadata.labels", OURS, f"{ON_PODS}['fairway.io/job']", "only Fairway"),
    ("a device without a limit", CONTAINER, GPU, f"{REQUESTS}['nvidia.com/gpu']", "missing"),
    ("a label value with a space", "metadata.labels", {"a": "b c"}, "metadata.labels.a", "not a label value"),
    ("a label value that is a number", "metadata.labels", {"a": 1}, "metadata.labels.a", "not a string"),
    (
        "an annotation of ours that is not documented",
        "metadata.annotations",
        {"fairway.io/prio": "9"},
        "metadata.annotations['fairway.io/prio']",
        "not an annotation Fairway knows",
    ),
    ("replicas of minus one", "spec.parallelism", -1, "spec.parallelism", "is -1"),
    ("replicas that are true", "spec.parallelism", True, "spec.parallelism", "not a whole number"),
    ("replicas with a fraction", "spec.parallelism", 1.5, "spec.parallelism", "not a whole number"),
    ("replicas in quotes", "spec.parallelism", "3", "spec.parallelism", "not a whole number"),
    ("a million pods", "spec.parallelism", 1_000_000, "spec.parallelism", "is 1000000"),
    ("no pods at all", "spec.parallelism", 0, "spec", "no pods"),
    ("no containers", CONTAINER, [], CONTAINER, "no container"),
    ("containers that are a mapping", CONTAINER, {"a": 1}, CONTAINER, "not a list"),
    ("a spec that is a list", "spec", [], "spec", "not a mapping"),
    ("a template that is text", "spec.template", "pod", "spec.template", "not a mapping"),
    ("a toleration without a key", f"{POD}.tolerations", [{"value": "x"}], f"{POD}.tolerations[0].key", "is empty"),
    ("labels without end", "metadata.labels", MANY_LABELS, "metadata.labels", "has 257 labels"),
    ("a node selector without end", f"{POD}.nodeSelector", {f"k{n}": "v" for n in range(2_049)}, "spec", "2049 labels"),
    ("tolerations without end", f"{POD}.tolerations", MANY_TOLERATIONS, "spec", "2049 labels"),
    ("terms without end", f"{POD}.affinity", nodes(*([EXISTS] * 2_049)), "spec", "2049 labels"),
    ("values without end", f"{POD}.affinity", nodes(VALUES), "spec", "5001 values"),
    ("a node selector filled in later", f"{POD}.nodeSelector", {"a": "{{x}}"}, f"{POD}.nodeSelector.a", "run time"),
]


@pytest.mark.parametrize(
    ("path", "value", "field", "text"), [one[1:] for one in REFUSED], ids=[one[0] for one in REFUSED]
)
def test_refused(path: str, value: Any, field: str, text: str) -> None:
    reasons = refusal(lambda: registry.read(with_at(batch_job(), path, value)))
    assert text in reasons[field]


@pytest.mark.parametrize(
    ("resources", "field", "text"),
    [
        ({"requests": {"cpu": "-1"}}, "requests.cpu", "is negative"),
        ({"requests": {"cpu": "1E"}}, "requests.cpu", "more than any cluster"),
        ({"limits": {"memory": "8GB"}}, "limits.memory", "not a quantity"),
        ({"limits": {"memory": True}}, "limits.memory", "no quantity"),
        ({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, "requests.cpu", "above its own limit"),
        ({"limits": {"nvidia.com/gpu": "500m"}}, "limits['nvidia.com/gpu']", "not a whole number"),
        ({"limits": {"a b": "1"}}, "limits.a b", "not a resource name"),
    ],
)
def test_a_quantity_is_refused(resources: dict[str, Any], field: str, text: str) -> None:
    manifest = with_at(batch_job(), CONTAINER, [{"name": "main", "resources": resources}])
    prefix = f"{CONTAINER}[0].resources."
    assert text in refusal(lambda: registry.read(manifest))[prefix + field]


def test_a_sum_that_no_store_can_hold_is_refused() -> None:
    manifest = with_at(batch_job(), CONTAINER, [{"resources": {"limits": {"memory": "4E"}}}])
    manifest["spec"]["parallelism"] = 3
    assert "over all pods" in refusal(lambda: registry.read(manifest))["spec"]


def test_every_reason_is_found_in_one_pass() -> None:
    manifest = with_at(with_at(batch_job(name="A"), "spec.parallelism", -1), "metadata.namespace", "a.b")
    assert set(refusal(lambda: registry.read(manifest))) == {
        "metadata.name",
        "metadata.namespace",
        "spec.parallelism",
    }


@pytest.mark.parametrize(
    ("api_version", "kind", "field"),
    [
        ("apps/v1", "ReplicaSet", "kind"),
        ("batch/v1beta1", "Job", "apiVersion"),
        ("sparkoperator.k8s.io/v1beta1", "SparkApplication", "apiVersion"),
        (None, None, "kind"),
        ([], {}, "kind"),
    ],
)
def test_an_unknown_kind_is_refused_by_name(api_version: Any, kind: Any, field: str) -> None:
    with pytest.raises(Refused) as caught:
        registry.read({**batch_job(), "apiVersion": api_version, "kind": kind})
    reason = next(one for one in caught.value.reasons if one.code == Code.UNKNOWN_KIND)
    assert reason.field == field
    assert reason.remedy.startswith("use ")


HEADS = {
    "appwrapper": ("workload.codeflare.dev/v1beta2", "AppWrapper"),
    "trainjob": ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
    "jobset": ("jobset.x-k8s.io/v1alpha2", "JobSet"),
    "leaderworkerset": ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    "pod": ("v1", "Pod"),
    "pytorch": ("kubeflow.org/v1", "PyTorchJob"),
    "raycluster": ("ray.io/v1", "RayCluster"),
    "ray": ("ray.io/v1", "RayJob"),
    "spark": ("sparkoperator.k8s.io/v1beta2", "SparkApplication"),
    "volcano": ("batch.volcano.sh/v1alpha1", "Job"),
    "workflow": ("argoproj.io/v1alpha1", "Workflow"),
}
BY_KIND = yaml.safe_load((Path(__file__).parent / "fixtures/refused/kinds.yaml").read_text())


@pytest.mark.parametrize("case", BY_KIND, ids=[f"{case['kind']}: {case['case']}" for case in BY_KIND])
def test_a_kind_refuses(case: dict[str, Any]) -> None:
    api_version, kind = HEADS[case["kind"]]
    metadata = {"name": case.get("name", "a"), **{key: case.get(key) for key in ("labels", "annotations")}}
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": case["spec"]}
    assert case["says"] in refusal(lambda: registry.read(manifest))[case["field"]]


def test_a_hostile_manifest_yields_few_reasons_quickly() -> None:
    labels = {f"fairway.io/{number}": "x" for number in range(20_000)}
    assert len(refusal(lambda: registry.read(batch_job(labels=labels)))) == 20
