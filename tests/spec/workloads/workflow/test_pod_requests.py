"""What an Argo workflow is charged where the sizes of its pods do not stand in its templates alone."""

import json
from typing import Any

import pytest

from fairway.workloads.kinds import registry
from tests.cases.good_jobs import workflow
from tests.cases.pod_flaws import Json
from tests.cases.pod_rules import but
from tests.spec.workloads.builders import refusal

_GPUS = {"cpu": "40", "nvidia.com/gpu": "2"}


def sized(**resources: Any) -> Json:
    return {"resources": resources}


def small() -> Json:
    return but(workflow(), "spec.templates.0.container.resources", {"requests": {"cpu": "30m"}})


def patched(path: str, *containers: Json, **more: Json) -> Json:
    return but(small(), path, json.dumps({"containers": list(containers), **more}))


BIG = {"name": "main", **sized(requests=_GPUS, limits=_GPUS)}
WAIT = {"name": "wait", **sized(requests={"cpu": "2"})}


@pytest.mark.parametrize(
    ("job", "want"),
    [
        pytest.param(small(), {"cpu": 30}, id="as it stands"),
        pytest.param(patched("spec.podSpecPatch", BIG), {"cpu": 40_000, "nvidia.com/gpu": 2}, id="a patch of all pods"),
        pytest.param(
            patched("spec.templates.0.podSpecPatch", BIG), {"cpu": 40_000, "nvidia.com/gpu": 2}, id="of a template"
        ),
        pytest.param(patched("spec.podSpecPatch", WAIT), {"cpu": 2_030}, id="a patch of Argo's own container"),
        pytest.param(
            patched("spec.podSpecPatch", initContainers=[{"name": "init", **sized(requests={"cpu": "3"})}]),
            {"cpu": 3_000},
            id="a patch of Argo's own init container",
        ),
        pytest.param(
            but(
                patched("spec.templates.0.podSpecPatch", {"name": "main", **sized(requests={"cpu": "1"})}),
                "spec.podSpecPatch",
                json.dumps({"containers": [BIG]}),
            ),
            {"cpu": 1_000, "nvidia.com/gpu": 2},
            id="the template's patch has the last word",
        ),
        pytest.param(
            but(small(), "spec.templateDefaults.container.resources", {"requests": {"memory": "1Gi", "cpu": "5"}}),
            {"cpu": 30, "memory": 2**30},
            id="a default, of which the template has the last word",
        ),
        pytest.param(
            but(small(), "spec.templateDefaults.sidecars", [{"name": "s", **sized(requests={"cpu": "1"})}]),
            {"cpu": 1_030},
            id="a sidecar by default",
        ),
        pytest.param(
            but(small(), "spec.templateDefaults.script", {"image": "x", **sized(requests={"cpu": "9"})}),
            {"cpu": 30},
            id="a default for another type of template",
        ),
        pytest.param(
            but(small(), "spec.templateDefaults.podSpecPatch", json.dumps({"containers": [BIG]})),
            {"cpu": 40_000, "nvidia.com/gpu": 2},
            id="a patch by default",
        ),
    ],
)
def test_a_pod_is_as_large_as_argo_makes_it(job: Json, want: dict[str, int]) -> None:
    (pods,) = registry.read(job).pod_sets
    assert pods.requests == want


def test_of_a_patched_device_the_limit_is_what_is_asked_for() -> None:
    one = {"name": "main", **sized(requests={"nvidia.com/gpu": "2"})}
    found = refusal(lambda: registry.read(patched("spec.podSpecPatch", one)))
    assert "the limit is missing" in found["spec.podSpecPatch.containers[0].resources.requests['nvidia.com/gpu']"]


@pytest.mark.parametrize(
    ("repeat", "want"),
    [
        ({"withParam": "[1, 2, 3]"}, 3),
        ({"withParam": "{{inputs.parameters.list}}"}, 1),
        ({"withParam": "[1, 2"}, 1),
        ({"withItems": [1, 2]}, 2),
        ({"withSequence": {"count": "4"}}, 4),
        ({"withSequence": {"count": "10000000000"}}, 100_000),
    ],
    ids=str,
)
def test_a_repeated_step_counts_as_often_as_the_manifest_says(repeat: Json, want: int) -> None:
    made = small()
    made["spec"]["templates"].append({"name": "all", "steps": [[{"name": "s", "template": "one", **repeat}]]})
    made["spec"]["entrypoint"] = "all"
    assert registry.read(made).pods == want


def test_a_template_inside_a_step_takes_no_name_of_another() -> None:
    """Or the size of one would be charged for the other."""
    made = small()
    made["spec"]["templates"][0]["name"] = "inline-0"
    made["spec"]["templates"][0]["container"]["resources"] = {"requests": {"cpu": "8"}}
    steps = [{"name": "a", "inline": {"container": {"image": "x"}}}, {"name": "b", "template": "inline-0"}]
    made["spec"]["templates"].append({"name": "all", "steps": [steps]})
    made["spec"]["entrypoint"] = "all"
    assert {pods.name: pods.requests for pods in registry.read(made).pod_sets} == {
        "inline-0": {"cpu": 8_000},
        "inline-1": {},
    }
