"""A TrainJob is written out with the runtime that it names, as Kubeflow's trainer 2.1 would put the two together."""

from typing import Any

import pytest

from fairway.wire.reasons import Code
from fairway.workloads.kinds import registry
from fairway.workloads.references import WrittenOut
from fairway.workloads.trainjob.written_out import written_out
from tests.cases.training_runtimes import OWN, TENANT, WIDE, Json, finds, job, runtime, torch, train_job


def templates(made: WrittenOut) -> dict[str, Json]:
    """The pod templates of its runtime by the name of their Job."""
    assert not made.wrong, made.wrong
    jobs = made.manifest["spec"]["runtime"]["template"]["spec"]["replicatedJobs"]
    return {one["name"]: one["template"]["spec"]["template"] for one in jobs}


def wrong(made: WrittenOut) -> dict[str, str]:
    assert made.manifest["spec"].get("runtime") is None
    return {one.field: one.text for one in made.wrong}


@pytest.mark.parametrize("reference", [WIDE, OWN], ids=["of the cluster", "of its namespace"])
def test_its_runtime_stands_in_it(reference: Any) -> None:
    given = torch(reference)
    made = written_out(train_job(reference, trainer={"numNodes": 3}, suspend=True), finds(given))
    assert made.manifest["spec"] == {"trainer": {"numNodes": 3}, "suspend": True, "runtime": given["spec"]}
    assert (made.used, made.wrong) == ((reference,), ())


def test_what_is_written_out_refers_to_nothing() -> None:
    made = written_out(train_job(), finds(torch())).manifest
    assert written_out(made, finds()).manifest is made
    kind = registry.KINDS["TrainJob.trainer.kubeflow.org/v1alpha1"]
    assert (kind.refers(train_job()), kind.refers(made)) == (True, False)


@pytest.mark.parametrize("reference", [WIDE, OWN], ids=["of the cluster", "of its namespace"])
def test_it_waits_for_a_runtime_that_is_not_there(reference: Any) -> None:
    made = written_out(train_job(reference), finds(torch(OWN if reference is WIDE else WIDE)))
    (why,) = made.wrong
    assert (made.waits, made.used, why.code, why.field) == (
        True,
        (reference,),
        Code.UNKNOWN_TEMPLATE,
        "spec.runtimeRef",
    )
    assert reference.name in why.text and (TENANT in why.text) is (reference is OWN)


@pytest.mark.parametrize(
    ("ref", "field"),
    [
        pytest.param({"name": "a", "kind": "Deployment"}, "spec.runtimeRef.kind", id="another kind"),
        pytest.param({"name": "a", "apiGroup": "apps"}, "spec.runtimeRef.apiGroup", id="of another group"),
        pytest.param({"name": "../a"}, "spec.runtimeRef.name", id="no name"),
        pytest.param({}, "spec.runtimeRef.name", id="none at all"),
    ],
)
def test_a_reference_that_is_none_is_refused_by_its_field(ref: Json, field: str) -> None:
    own = train_job()
    own["spec"]["runtimeRef"] = ref
    made = written_out(own, finds(torch()))
    assert (list(wrong(made)), made.used, made.waits) == ([field], (), False)


def test_its_labels_and_annotations_are_those_of_the_job_set() -> None:
    given = torch()
    given["spec"]["template"]["metadata"] = {"labels": {"a": "runtime", "b": "runtime"}}
    made = written_out(train_job(labels={"a": "own"}, annotations={"c": "own"}), finds(given))
    metadata = made.manifest["spec"]["runtime"]["template"]["metadata"]
    assert metadata == {"labels": {"a": "own", "b": "runtime"}, "annotations": {"c": "own"}}


def test_a_label_of_ours_is_no_label_of_its_job_set() -> None:
    made = written_out(train_job(labels={"fairway.io/job": "x"}), finds(torch()))
    assert "only Fairway" in wrong(made)["spec.labels['fairway.io/job']"]


def over(*targets: str, metadata: Json | None = None, **spec: Any) -> Json:
    return {"targetJobs": [{"name": one} for one in targets], "metadata": metadata or {}, "spec": spec}


def with_pods(**spec: Any) -> Json:
    """The runtime of two Jobs, with more in the pods of its nodes."""
    given = torch()
    pods = given["spec"]["template"]["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]
    pods |= spec
    return given


AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"a": 1}]}}}
MERGES: dict[str, tuple[Json, Json, Json]] = {
    "an account is replaced": ({"serviceAccountName": "a"}, {"serviceAccountName": "b"}, {"serviceAccountName": "b"}),
    "tolerations are replaced": (
        {"tolerations": [{"key": "a"}]},
        {"tolerations": [{"key": "b"}]},
        {"tolerations": [{"key": "b"}]},
    ),
    "a selector gets more": (
        {"nodeSelector": {"a": "1", "b": "1"}},
        {"nodeSelector": {"b": "2", "c": "2"}},
        {"nodeSelector": {"a": "1", "b": "2", "c": "2"}},
    ),
    "affinities are merged": (
        {"affinity": {"podAffinity": {"a": 1}}},
        {"affinity": AFFINITY},
        {"affinity": {"podAffinity": {"a": 1}, **AFFINITY}},
    ),
    "volumes are merged by name": (
        {"volumes": [{"name": "a", "emptyDir": {"medium": "Memory"}}, {"name": "b", "emptyDir": {}}]},
        {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "c", "emptyDir": {}}]},
        {
            "volumes": [
                {"name": "a", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
                {"name": "b", "emptyDir": {}},
                {"name": "c", "emptyDir": {}},
            ]
        },
    ),
    "variables and mounts are merged into containers": (
        {"initContainers": [{"name": "i", "env": [{"name": "A", "value": "1"}], "image": "x"}]},
        {"initContainers": [{"name": "i", "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "2"}]}]},
        {
            "initContainers": [
                {"name": "i", "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "2"}], "image": "x"}
            ]
        },
    ),
}


@pytest.mark.parametrize(("base", "own", "want"), MERGES.values(), ids=list(MERGES))
def test_of_overrides(base: Json, own: Json, want: Json) -> None:
    made = written_out(train_job(podTemplateOverrides=[over("node", **own)]), finds(with_pods(**base)))
    pods = templates(made)["node"]["spec"]
    assert {name: pods[name] for name in want} == want
    first = templates(written_out(train_job(), finds(torch())))["dataset-initializer"]
    assert templates(made)["dataset-initializer"] == first


def test_the_later_of_two_overrides_counts_in_each_job_that_it_names() -> None:
    one = over("node", "dataset-initializer", "node", metadata={"labels": {"a": "1", "b": "1"}})
    two = over("node", metadata={"labels": {"b": "2"}, "annotations": {"c": "2"}})
    found = templates(written_out(train_job(podTemplateOverrides=[one, two]), finds(torch())))
    assert found["node"]["metadata"] == {"labels": {"a": "1", "b": "2"}, "annotations": {"c": "2"}}
    assert found["dataset-initializer"]["metadata"] == {"labels": {"a": "1", "b": "1"}}


OVERRIDES = "spec.podTemplateOverrides"
REFUSED: dict[str, tuple[Json, str, str]] = {
    "a job that is not there": (over("none"), f"{OVERRIDES}[0].targetJobs[0].name", "is no job of the runtime"),
    "a container that is not there": (
        over("node", containers=[{"name": "more", "image": "x"}]),
        f"{OVERRIDES}[0].spec.containers[0].name",
        "is no container",
    ),
    "a field of a container beyond those that it may have": (
        over("node", containers=[{"name": "node", "securityContext": {"privileged": True}}]),
        f"{OVERRIDES}[0].spec.containers[0].securityContext",
        "is no field",
    ),
    "a field of a pod beyond those that it may have": (
        over("node", hostNetwork=True),
        f"{OVERRIDES}[0].spec.hostNetwork",
        "is no field",
    ),
    "variables that belong elsewhere": (
        over("node", containers=[{"name": "node", "env": [{"name": "A", "value": "1"}]}]),
        f"{OVERRIDES}[0].spec.containers[0].env",
        "is not the place",
    ),
    "a label of ours": (
        over("node", metadata={"labels": {"fairway.io/job": "x"}}),
        f"{OVERRIDES}[0].metadata.labels['fairway.io/job']",
        "only Fairway",
    ),
    "how to merge in place of a label": (
        over("node", metadata={"labels": {"$patch": "delete"}}),
        f"{OVERRIDES}[0].metadata.labels.$patch",
        "is not a label key",
    ),
    "a volume without a name": (
        over("node", volumes=[{"emptyDir": {}}]),
        f"{OVERRIDES}[0].spec.volumes[0].name",
        "is missing",
    ),
}


@pytest.mark.parametrize(("override", "field", "says"), REFUSED.values(), ids=list(REFUSED))
def test_an_override_is_refused_for(override: Json, field: str, says: str) -> None:
    made = written_out(train_job(podTemplateOverrides=[override]), finds(torch()))
    assert says in wrong(made)[field]


def test_what_overrides_make_is_as_large_as_a_manifest_at_most() -> None:
    jobs = [job(f"j{at}") for at in range(200)]
    large = over(*(one["name"] for one in jobs), metadata={"annotations": {"a": "x" * 10_000}})
    made = written_out(train_job(podTemplateOverrides=[large]), finds(runtime(WIDE, *jobs)))
    assert [one.code for one in made.wrong] == [Code.TOO_LARGE]


def test_what_overrides_say_to_all_their_jobs_is_as_much_at_most_though_each_replaces_the_one_before() -> None:
    jobs = [job(f"j{at}") for at in range(20)]
    again = over(*(one["name"] for one in jobs), metadata={"annotations": {"a": "x" * 1_000}})
    made = written_out(train_job(podTemplateOverrides=[again] * 100), finds(runtime(WIDE, *jobs)))
    assert "in the jobs that they name" in wrong(made)[OVERRIDES]


def test_a_runtime_is_as_large_as_a_manifest_at_most_alone_and_with_the_job() -> None:
    big = with_pods(annotations="x" * 1_100_000)
    assert [one.code for one in written_out(train_job(), finds(big)).wrong] == [Code.TOO_LARGE]
    half = with_pods(annotations="x" * 600_000)
    own = train_job(trainer={"args": ["x" * 600_000]})
    assert [one.code for one in written_out(own, finds(half)).wrong] == [Code.TOO_LARGE]
    deep: Any = 1
    for _ in range(80):
        deep = [deep]
    assert [one.code for one in written_out(train_job(), finds(with_pods(a=deep))).wrong] == [Code.TOO_LARGE]


@pytest.mark.parametrize("odd", [None, 7, "x", [], [7], {}, {"a": 7}, True], ids=str)
@pytest.mark.parametrize(
    "place", ["labels", "annotations", "podTemplateOverrides", "trainer", "initializer", "runtimeRef", "runtime"]
)
def test_odd_values_are_left_to_admission(place: str, odd: Any) -> None:
    made = written_out({**train_job(), "spec": {**train_job()["spec"], place: odd}}, finds(torch()))
    assert isinstance(made.manifest, dict)
    for spec in (
        odd,
        {"template": odd},
        {"template": {"spec": {"replicatedJobs": odd}}},
        {"template": {"metadata": odd}},
    ):
        own = train_job(labels={"a": "b"}, podTemplateOverrides=[over("node", metadata={"labels": {"a": "b"}})])
        assert written_out(own, finds({**torch(), "spec": spec})).used == (WIDE,)
