"""What a manifest names of others, wherever in it that stands."""

from typing import Any

import msgspec
import pytest

from fairway.workloads.reading.named_objects import _NAMES, _WORDS, NamedObjects, claims

LEAF = "quota.scheduling.koordinator.sh/name"
VOLCANO = "scheduling.volcano.sh/queue-name"


def of(manifest: dict[str, Any]) -> NamedObjects:
    return claims(manifest, msgspec.json.encode(manifest))


def job(spec: Any, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Any", "metadata": metadata, "spec": spec}


def wrapper(spec: Any) -> dict[str, Any]:
    return {**job({"components": [{"template": job(spec)}]}), "kind": "AppWrapper"}


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(
            job({"a": [{"template": {"spec": {"priorityClassName": "high"}}}]}),
            NamedObjects(classes=[("priorityClassName", "high")]),
            id="a class of a pod, in a list",
        ),
        pytest.param(
            job({"runPolicy": {"schedulingPolicy": {"priorityClass": "high", "queue": "vip"}}}),
            NamedObjects(
                classes=[("priorityClass", "high")], queues=[("spec.runPolicy.schedulingPolicy.queue", "vip")]
            ),
            id="class and queue of Kubeflow",
        ),
        pytest.param(
            wrapper({"runPolicy": {"schedulingPolicy": {"priorityClass": "high", "queue": "vip"}}}),
            NamedObjects(
                classes=[("priorityClass", "high")], queues=[("spec.runPolicy.schedulingPolicy.queue", "vip")]
            ),
            id="of Kubeflow, in an AppWrapper",
        ),
        pytest.param(
            job({"podPriorityClassName": "high"}),
            NamedObjects(classes=[("podPriorityClassName", "high")]),
            id="of Argo",
        ),
        pytest.param(
            job({"batchSchedulerOptions": {"queue": "vip"}}),
            NamedObjects(queues=[("spec.batchSchedulerOptions.queue", "vip")]),
            id="a queue of Spark",
        ),
        pytest.param(
            job({"sparkConf": {f"spark.kubernetes.driver.label.{LEAF}": "theirs"}}),
            NamedObjects(leaves=[(f"spark.kubernetes.driver.label.{LEAF}", "theirs")]),
            id="a leaf in Spark's settings",
        ),
        pytest.param(
            job({"template": {"metadata": {"labels": {LEAF: "theirs"}}}}),
            NamedObjects(leaves=[(LEAF, "theirs")]),
            id="a leaf of a template",
        ),
        pytest.param(
            job({}, annotations={VOLCANO: "vip"}),
            NamedObjects(queues=[(VOLCANO, "vip")]),
            id="a queue of the object itself",
        ),
        pytest.param(
            job({}, labels={LEAF: "mine"}), NamedObjects(), id="its own leaf is no claim: it is charged there"
        ),
        pytest.param(
            job({"a": {"queue": "x"}, "b": None, "c": 1, "d": [[], ""]}), NamedObjects(), id="nothing of others"
        ),
    ],
)
def test_it_is_found(given: dict[str, Any], want: NamedObjects) -> None:
    assert of(given) == want


def test_nothing_is_too_deep() -> None:
    deep: Any = {"priorityClassName": "high"}
    for _ in range(50_000):
        deep = [deep]
    assert claims(job(deep), b"priorityClassName").classes == [("priorityClassName", "high")]


def test_what_is_said_often_is_one_claim() -> None:
    """35,000 times one's own leaf were as many walks over all leaves."""
    many = job([{LEAF: "mine", VOLCANO: "default", "priorityClassName": "high"}] * 3)
    assert of(many) == NamedObjects([("priorityClassName", "high")], [(LEAF, "mine")], [(VOLCANO, "default")])
    conf = {f"spark.kubernetes.driver.label.x{number}.{LEAF}": "mine" for number in range(9)}
    assert [name for _, name in of(job({"sparkConf": conf})).leaves] == ["mine"]


@pytest.mark.parametrize(
    "conf", ["none", ["none"], {f"spark.kubernetes.driver.label.{LEAF}": 5, f"spark.kubernetes.{LEAF}x": "a"}]
)
def test_settings_of_spark_that_name_nothing_are_no_claims(conf: Any) -> None:
    assert of(job({"deep": [{"sparkConf": conf}]})) == NamedObjects()


@pytest.mark.parametrize(
    "text",
    [
        b'{"spec": {"priority\\u0043lassName": "high", "a": 1}}',
        b'{"spec": {"a": {"quota.scheduling.koordinator.sh\\/name": "theirs"}}}',
        b'{"spec": {"\\u0073parkConf": {"spark.kubernetes.driver.label.scheduling.volcano.sh/queue-name": "vip"}}}',
    ],
)
def test_it_is_found_however_it_is_spelt(text: bytes) -> None:
    assert claims(msgspec.json.decode(text), text) != NamedObjects()


@pytest.mark.parametrize("name", sorted(_NAMES))
def test_each_name_holds_a_word_that_is_looked_for(name: str) -> None:
    assert any(word in name.encode() for word in _WORDS)
