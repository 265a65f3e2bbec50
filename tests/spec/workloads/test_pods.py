"""The size of one pod, and the nodes it may use, as the Kubernetes scheduler reads them."""

from typing import Any

import pytest

from fairway.wire.workload import Expression, PodSet, Toleration
from fairway.workloads.kinds import registry
from tests.spec.workloads.builders import batch_job, refusal


def pod_set(**spec: Any) -> PodSet:
    manifest = batch_job()
    manifest["spec"]["template"]["spec"] = spec
    return registry.read_unchecked(manifest).pod_sets[0]


def needs(cpu: str, **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        pytest.param({"containers": [needs("1"), needs("500m")]}, 1500, id="containers add up"),
        pytest.param(
            {"containers": [needs("1")], "initContainers": [needs("3"), needs("2")]},
            3000,
            id="the largest init container runs alone",
        ),
        pytest.param(
            {"containers": [needs("1")], "initContainers": [needs("2", restartPolicy="Always")]},
            3000,
            id="a sidecar runs beside the containers",
        ),
        pytest.param(
            {
                "containers": [needs("1")],
                "initContainers": [needs("1", restartPolicy="Always"), needs("4"), needs("2", restartPolicy="Always")],
            },
            5000,
            id="an init container runs beside the sidecars started before it only",
        ),
        pytest.param({"containers": [needs("1")], "overhead": {"cpu": "250m"}}, 1250, id="overhead comes on top"),
        pytest.param(
            {"containers": [{"resources": {"limits": {"cpu": "2"}}}]}, 2000, id="a limit stands in for a request"
        ),
        pytest.param(
            {"containers": [needs("1")], "resources": {"requests": {"cpu": "5"}}},
            5000,
            id="requests of the whole pod replace the sum",
        ),
        pytest.param(
            {"containers": [needs("1")], "resources": {"limits": {"cpu": "5"}}},
            1000,
            id="a limit of the whole pod does not, when its containers request",
        ),
    ],
)
def test_a_pod_requests(spec: dict[str, Any], cpu: int) -> None:
    assert pod_set(**spec).requests == {"cpu": cpu}


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


GPU = {"key": "gpu", "operator": "In", "values": ["A100"]}
NAME = {"key": "metadata.name", "operator": "In", "values": ["n1"]}


def test_required_affinity_keeps_its_terms_and_fields_apart() -> None:
    found = pod_set(
        containers=[{}],
        affinity=affinity({"matchExpressions": [GPU]}, {"matchFields": [NAME]}, {}),
        tolerations=[{"operator": "Exists"}, {"key": "gpu", "value": "x", "effect": "NoSchedule"}],
    )
    assert found.node_terms == (
        (Expression("gpu", "In", ("A100",)),),
        (Expression("metadata.name", "In", ("n1",), field=True),),
    )
    assert found.tolerations == (
        Toleration(operator="Exists"),
        Toleration(key="gpu", value="x", effect="NoSchedule"),
    )


def test_a_node_name_narrows_every_term() -> None:
    pinned = Expression("metadata.name", "In", ("n7",), field=True)
    assert pod_set(containers=[{}], nodeName="n7").node_terms == ((pinned,),)
    both = pod_set(containers=[{}], nodeName="n7", affinity=affinity({"matchExpressions": [GPU]}))
    assert both.node_terms == ((Expression("gpu", "In", ("A100",)), pinned),)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ({}, "matches no node"),
        ({"matchExpressions": [{**GPU, "values": []}]}, "at least one value"),
        ({"matchExpressions": [{**GPU, "operator": "Exists"}]}, "takes no values"),
        ({"matchExpressions": [{**GPU, "operator": "Gt"}]}, "one whole number"),
        ({"matchExpressions": [{**GPU, "operator": "Like"}]}, "'Like'"),
        ({"matchFields": [{**NAME, "key": "spec.name"}]}, "metadata.name"),
    ],
)
def test_a_term_that_cannot_match_is_refused(term: dict[str, Any], text: str) -> None:
    reasons = refusal(lambda: pod_set(containers=[{}], affinity=affinity(term)))
    assert text in " ".join(reasons.values())
