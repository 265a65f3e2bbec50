"""A copy says of the pods that run on batch resources that they do: to Koordinator, and to what selects them there."""

from typing import Any

from fairway.domain.batch_resources import batch_pod_sets
from fairway.workloads.kinds import registry
from fairway.workloads.member_copy import BATCH_LABELS, Terms, member_copy
from tests.spec.workloads.batch.test_demand import BE, job, spark, workflow

Json = dict[str, Any]


def copied(manifest: Json) -> Json:
    terms = Terms(batch=batch_pod_sets(registry.read(manifest)))
    spec: Json = member_copy(manifest, "j-1", 1, terms=terms)["spec"]
    return spec


def marked(labels: Json) -> bool:
    return bool(BATCH_LABELS.items() <= labels.items())


def test_all_pods_of_a_job_that_asks_for_it() -> None:
    annotated = {"fairway.io/room": "batch"}
    assert marked(copied(job(annotations=annotated))["template"]["metadata"]["labels"])
    roles = copied(spark(metadata__annotations=annotated))
    assert marked(roles["driver"]["labels"])
    assert marked(roles["executor"]["labels"])
    flow = copied({**workflow(), "metadata": {"name": "w", "namespace": "team-data", "annotations": annotated}})
    assert marked(flow["podMetadata"]["labels"])
    assert marked(flow["templates"][0]["metadata"]["labels"])


def test_only_those_of_the_pod_set_that_asks_for_it() -> None:
    roles = copied(spark(spec__executor__labels=BE))
    assert marked(roles["executor"]["labels"])
    assert not BATCH_LABELS.keys() & roles["driver"]["labels"].keys()


def test_no_pod_of_another_job() -> None:
    assert not BATCH_LABELS.keys() & copied(job())["template"]["metadata"]["labels"].keys()


def test_pods_that_ask_for_batch_resources_by_name_are_of_that_class_too() -> None:
    asks = {"requests": {"kubernetes.io/batch-cpu": "1000"}}
    found = copied(job(containers=[{"name": "main", "resources": asks}], overhead=None))
    assert marked(found["template"]["metadata"]["labels"])


def test_a_role_of_a_spark_application_says_nothing_that_would_win_over_the_class_of_its_pods() -> None:
    """The operator's webhook writes it after Koordinator's has given the pod its class."""
    template = {"spec": {"priorityClassName": "high"}}
    given = {"priorityClassName": "high", "memoryLimit": "8g", "template": template, "labels": BE}
    spec = copied(spark(spec__executor={**given, "cores": 2, "memory": "4g"}, spec__driver__priorityClassName="low"))
    assert not {"priorityClassName", "memoryLimit"} & spec["executor"].keys()
    assert spec["executor"]["template"]["spec"] == {}
    assert spec["driver"]["priorityClassName"] == "low"
