"""What a job on Koordinator's batch resources asks for, and by what it says that it is one."""

from typing import Any

import pytest
from msgspec import Raw, json

from fairway.domain.batch_resources import batch_pod_sets, in_batch, on_batch, on_normal
from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY
from fairway.domain.tenancy.profile import Tenancy
from fairway.workloads.kinds import registry
from fairway.workloads.reading.batch_marks import under_policy
from fairway.workloads.typed.manifests import read_typed
from tests.spec.workloads.builders import batch_job, refusal, with_at

Json = dict[str, Any]
GIB = 2**30
ROOM = {"fairway.io/room": "batch"}
COLOCATION = "example.com/colocation"
BE = {"koordinator.sh/qosClass": "BE"}
HEAVY = {"resources": {"requests": {"cpu": "1500m"}, "limits": {"memory": "2Gi", "example.com/nic": "1"}}}


def job(labels: Json | None = None, annotations: Json | None = None, **spec: Any) -> Json:
    manifest = batch_job(annotations=annotations or {})
    pod = {"containers": [{"name": "main", **HEAVY}], "overhead": {"cpu": "250m", "memory": "1Gi"}, **spec}
    manifest["spec"]["template"] = {"metadata": {"labels": labels or {}}, "spec": pod}
    return manifest


def spark(**more: Any) -> Json:
    made: Json = {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": "s", "namespace": "team-data"},
        "spec": {
            "type": "Scala",
            "mainApplicationFile": "local:///a.jar",
            "driver": {"cores": 1, "memory": "1g"},
            "executor": {"cores": 2, "memory": "4g", "instances": 3},
        },
    }
    for path, value in more.items():
        with_at(made, path.replace("__", "."), value)
    return made


def requests(manifest: Json) -> list[Json]:
    return [one.requests for one in registry.read(manifest).pod_sets]


def test_cpu_and_memory_with_overhead_and_limits_move_and_all_else_stays() -> None:
    (found,) = requests(job(BE))
    assert found == {BATCH_CPU: 1750, BATCH_MEMORY: 3 * GIB, "example.com/nic": 1}
    (normal,) = requests(job())
    assert in_batch(normal) == found


@pytest.mark.parametrize(
    ("labels", "spec", "batch"),
    [
        pytest.param({}, {}, False, id="says nothing"),
        pytest.param(BE, {}, True, id="best effort"),
        pytest.param({"koordinator.sh/qosClass": "LS"}, {}, False, id="latency sensitive"),
        pytest.param({"koordinator.sh/priority-class": "koord-batch"}, {}, True, id="class by label"),
        pytest.param({}, {"priorityClassName": "koord-batch"}, True, id="class by name"),
        pytest.param(BE, {"priorityClassName": "high"}, True, id="a class that is none of Koordinator's"),
        pytest.param(BE, {"priorityClassName": "koord-free"}, False, id="a class before the class of service"),
        pytest.param(
            {"koordinator.sh/priority-class": "koord-batch"},
            {"priorityClassName": "koord-prod"},
            True,
            id="the label before the name",
        ),
    ],
)
def test_a_pod_says_so_in_koordinators_order(labels: Json, spec: Json, batch: bool) -> None:
    (found,) = requests(job(labels, **spec))
    assert (BATCH_CPU in found, "cpu" in found) == (batch, not batch)


@pytest.mark.parametrize("room", ["batch", "normal"])
def test_a_job_of_any_kind_says_so_by_its_annotation(room: str) -> None:
    for manifest in (
        job(annotations={"fairway.io/room": room}),
        spark(metadata__annotations={"fairway.io/room": room}),
    ):
        assert all((BATCH_CPU in one) == (room == "batch") for one in requests(manifest))


def test_with_batch_first_the_pods_ask_for_cpu_and_memory_until_they_are_let_go() -> None:
    work = registry.read(job(annotations={"fairway.io/room": "batch,normal"}))
    assert work.batch_first
    assert work.pod_sets == registry.read(job()).pod_sets
    assert on_batch(work).pod_sets == registry.read(job(annotations=ROOM)).pod_sets
    assert on_normal(on_batch(work)) == on_normal(work) == work


@pytest.mark.parametrize(("labels", "spec"), [(BE, {}), ({}, {"priorityClassName": "koord-batch"})])
def test_pods_that_are_marked_for_batch_resources_alone_cannot_have_the_others(labels: Json, spec: Json) -> None:
    found = refusal(lambda: registry.read(job(labels, {"fairway.io/room": "batch,normal"}, **spec)))
    assert list(found) == ["metadata.annotations['fairway.io/room']"]


WHOLE = {"resources": {"limits": {"memory": "4Gi"}}}
PROXY = {"name": "proxy", "image": "x", "resources": {"requests": {"cpu": "100m"}}}


@pytest.mark.parametrize("room", ["batch", "batch,normal"])
@pytest.mark.parametrize(
    ("made", "field"),
    [
        pytest.param(lambda said: job(annotations=said, **WHOLE), "spec.template.spec.resources", id="of a pod"),
        pytest.param(
            lambda said: spark(metadata__annotations=said, spec__executor__sidecars=[PROXY]),
            "spec.executor.sidecars[0].resources",
            id="of a sidecar that the operator adds",
        ),
        pytest.param(
            lambda said: spark(metadata__annotations=said, spec__driver__initContainers=[{"name": "a"}, PROXY]),
            "spec.driver.initContainers[1].resources",
            id="of an init container that the operator adds",
        ),
        pytest.param(
            lambda said: spark(metadata__annotations=said, spec__driver__template={"spec": WHOLE}),
            "spec.driver.template.spec.resources",
            id="of a role's template",
        ),
    ],
)
def test_what_would_stay_cpu_and_memory_in_a_member_is_refused_by_its_place(room: str, made: Any, field: str) -> None:
    assert list(refusal(lambda: registry.read(made({"fairway.io/room": room})))) == [field]
    registry.read(made({"fairway.io/room": "normal"}))


def test_what_asks_for_neither_may_be_added_by_the_operator() -> None:
    plain = {"name": "log", "image": "x", "resources": {"limits": {"example.com/nic": "1"}}}
    registry.read(spark(metadata__annotations=ROOM, spec__executor__sidecars=[plain]))


@pytest.mark.parametrize(
    ("labels", "annotations", "room", "want"),
    [
        pytest.param({}, {}, "", (False, False), id="nobody says anything"),
        pytest.param({}, {}, "batch", (True, False), id="batch"),
        pytest.param({}, {}, "batch,normal", (False, True), id="the one and then the other"),
        pytest.param({}, {"fairway.io/room": "normal"}, "batch", (False, False), id="the job says another one"),
        pytest.param(BE, {}, "batch,normal", (True, False), id="its pods are marked"),
    ],
)
def test_what_a_policy_says_counts_for_jobs_that_say_nothing(
    labels: Json, annotations: Json, room: str, want: tuple[bool, bool]
) -> None:
    work = under_policy(registry.read(job(labels, annotations)), annotations, room)
    assert (bool(batch_pod_sets(work)), work.batch_first) == want


def test_a_room_that_is_none_is_refused_by_its_name() -> None:
    (field,) = refusal(lambda: registry.read(job(annotations={"fairway.io/room": "idle"})))
    assert field == "metadata.annotations['fairway.io/room']"


def test_only_the_pod_set_that_says_so_runs_on_batch_resources() -> None:
    driver, executor = requests(spark(spec__executor__labels=BE))
    assert driver["cpu"] == 1000
    assert executor == {BATCH_CPU: 2000, BATCH_MEMORY: int(4096 * 1.1) * 2**20}


def test_the_class_of_a_role_counts_before_that_of_its_template() -> None:
    pod = {"spec": {"priorityClassName": "koord-prod"}}
    found = spark(spec__executor__template=pod, spec__executor__priorityClassName="koord-batch")
    assert [BATCH_CPU in one for one in requests(found)] == [False, True]


class TestAnnotationsOfTheFleet:
    @pytest.fixture(autouse=True)
    def known(self) -> Any:
        before = registry._known[registry.SPARK.key]
        registry.spark_on_batch_resources((COLOCATION, "example.com/other"))
        yield
        registry._known[registry.SPARK.key] = before

    @pytest.mark.parametrize(
        "place", ["metadata__annotations", "spec__driver__annotations"], ids=["on the object", "on the roles"]
    )
    def test_a_spark_application_says_so_by_each_of_them(self, place: str) -> None:
        for name in (COLOCATION, "example.com/other"):
            manifest = spark(**{place: {name: "true"}})
            if place != "metadata__annotations":
                with_at(manifest, "spec.executor.annotations", {name: "true"})
            assert all(BATCH_CPU in one for one in requests(manifest))

    def test_batch_first_on_the_object_counts_before_them(self) -> None:
        said = {COLOCATION: "true", "fairway.io/room": "batch,normal"}
        work = registry.read(spark(metadata__annotations=said))
        assert (work.batch_first, batch_pod_sets(work)) == (True, ())

    def test_false_is_as_good_as_nothing_and_other_words_are_refused(self) -> None:
        assert "cpu" in requests(spark(metadata__annotations={COLOCATION: "false"}))[0]
        (text,) = refusal(lambda: registry.read(spark(metadata__annotations={COLOCATION: "yes"}))).values()
        assert "'yes'" in text

    def test_one_role_alone_is_refused_where_the_other_one_lacks_it(self) -> None:
        wrong = refusal(lambda: registry.read(spark(spec__driver__annotations={COLOCATION: "true"})))
        assert list(wrong) == [f"spec.executor.annotations['{COLOCATION}']"]

    def test_other_kinds_are_not_asked(self) -> None:
        assert "cpu" in requests(job(annotations={COLOCATION: "true"}))[0]


def workflow(**spec: Any) -> Json:
    container = {"image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "w", "namespace": "team-data"},
        "spec": {"entrypoint": "a", "templates": [{"name": "a", "container": container}], **spec},
    }


def test_a_workflow_says_so_of_all_its_pods_or_of_none() -> None:
    assert BATCH_CPU in requests(workflow(podMetadata={"labels": BE}))[0]
    assert BATCH_CPU in requests(workflow(podPriorityClassName="koord-batch"))[0]
    one = workflow()
    one["spec"]["templates"][0]["metadata"] = {"labels": BE}
    (field,) = refusal(lambda: registry.read(one))
    assert field == "spec.templates[0]"


@pytest.mark.parametrize(
    "manifest",
    [job(), job(BE), job(priorityClassName="koord-batch"), job(annotations=ROOM)],
    ids=["normal", "labels", "class", "annotation"],
)
def test_the_typed_reader_says_the_same_or_leaves_it(manifest: Json) -> None:
    typed = read_typed(Raw(json.encode(manifest)), Tenancy("team-data"))
    assert typed is None or typed.workload == registry.read(manifest)


def test_a_tenant_may_give_way_but_take_no_other_class_of_koordinator() -> None:
    registry.read(job({"koordinator.sh/priority-class": "koord-batch"}))
    (field,) = refusal(lambda: registry.read(job({"koordinator.sh/priority-class": "koord-prod"})))
    assert field.endswith("['koordinator.sh/priority-class']")
