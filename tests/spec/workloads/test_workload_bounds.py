"""How much one job may be. A mebibyte of text has room for 350,000 empty templates or containers, and one thread looks
at the jobs of all tenants."""

from collections.abc import Callable
from typing import Any

import pytest

from fairway.wire.reasons import Code, Refused
from fairway.workloads.kinds import registry
from fairway.workloads.kinds.generic import load_generic
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.reading.pods import MOST_CONTAINERS, MOST_POD_SETS
from fairway.workloads.workflow.parallelism import Templates
from fairway.workloads.workflow.size_limits import MOST_IN_ALL, MOST_STEPS, MOST_TEMPLATES
from tests.cases.good_jobs import (
    batch_job,
    job,
    job_set,
    leader_worker_set,
    main,
    ray_job,
    spark,
    spark_by_template,
    template,
    volcano_job,
    workflow,
)
from tests.cases.hostile_pods import reach
from tests.cases.pod_flaws import Json
from tests.spec.workloads.builders import refusal, work

DECLARED = """
apiVersion: example.org/v1
kind: Elastic
plural: elastics
podSets: [{name: worker, template: [spec.template]}]
podTemplates: [spec.logger]
status: {running: [{condition: Running}]}
"""
INLINE = {"inline": {"suspend": {}}}
ONE = {"name": "s", "template": "one"}


def flow(*templates: Json, **spec: Any) -> Json:
    made = workflow()
    made["spec"]["templates"] += templates
    made["spec"] |= spec
    return made


def unused(number: int, **more: Any) -> list[Json]:
    """Templates that nothing runs, beside the one of a workflow."""
    return [{"name": f"t{each}", "container": {"image": "x"}, **more} for each in range(number - 1)]


def elastic(**spec: Any) -> Json:
    return job("example.org/v1", "Elastic", spec)


def several(number: int) -> list[Json]:
    return [main(f"c{each}") for each in range(number)]


def tasks(number: int) -> list[Json]:
    return [{"name": f"t{each}", "template": "one"} for each in range(number)]


def steps(*groups: Any) -> Json:
    return {"name": "all", "steps": list(groups)}


BOUNDS: dict[str, tuple[Callable[[int], Json], int, str]] = {
    "templates": (lambda most: flow(*unused(most)), MOST_TEMPLATES, "spec.templates"),
    "templates inside steps": (lambda most: flow(steps([INLINE] * (most - 2))), MOST_TEMPLATES, "spec.templates"),
    "steps": (lambda most: flow(steps([ONE] * (most - 9), *[[ONE]] * 9)), MOST_STEPS, "spec.templates"),
    "tasks": (lambda most: flow({"name": "all", "dag": {"tasks": tasks(most)}}), MOST_STEPS, "spec.templates"),
    "containers of all templates": (
        lambda most: flow(
            *unused(51, sidecars=several(most // 50)),
            {"name": "more", "container": {"image": "x"}, "initContainers": several(most % 50)},
        ),
        MOST_IN_ALL,
        "spec.templates",
    ),
    "containers with those of defaults": (
        lambda most: flow(
            *unused(most // 10), templateDefaults={"initContainers": [{"name": f"c{n}"} for n in range(10 + most % 10)]}
        ),
        MOST_IN_ALL,
        "spec.templates",
    ),
}


@pytest.mark.parametrize(("made", "most", "field"), BOUNDS.values(), ids=list(BOUNDS))
def test_a_workflow_that_is_larger_is_refused_by_field(made: Callable[[int], Json], most: int, field: str) -> None:
    assert registry.read(made(most)).pods == 1
    with pytest.raises(Refused) as caught:
        registry.read(made(most + 1))
    (reason,) = caught.value.reasons
    assert (reason.code, reason.field) == (Code.TOO_LARGE, field)
    assert str(most) in reason.text and str(most) in reason.remedy


def test_defaults_are_no_larger_than_if_they_were_written_in_each_template() -> None:
    more = {"metadata": {"annotations": {"a": "x" * 900}}}
    assert registry.read(flow(*unused(MOST_TEMPLATES), templateDefaults=more)).pods == 1
    more = {"metadata": {"annotations": {"a": "x" * 1_100}}}
    found = refusal(lambda: registry.read(flow(*unused(MOST_TEMPLATES), templateDefaults=more)))
    assert found == {"spec.templateDefaults": "is too much for so many templates"}


_POD = ("containers", "initContainers", "ephemeralContainers")
_TEMPLATE = ("initContainers", "sidecars")


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (volcano_job, ("spec", "tasks")),
        (job_set, ("spec", "replicatedJobs")),
        (ray_job, ("spec", "rayClusterSpec", "workerGroupSpecs")),
    ],
)
def test_no_more_roles_are_read_than_a_job_may_have(made: Callable[[], Json], path: tuple[str, ...]) -> None:
    """350,000 empty ones took 5 s."""

    def cost(number: int) -> int:
        whole = made()
        reach(whole, path[:-1])[path[-1]] = [{}] * number
        found: dict[str, str] = {}
        done = work(lambda: found.update(refusal(lambda: registry.read(whole))))
        assert (".".join(path), f"has {number} entries") in found.items()
        return done

    assert cost(30_000) <= 1.1 * cost(MOST_POD_SETS + 1)


# The job, the way to what has containers, and their lists.
PODS: dict[str, tuple[Callable[[], Json], tuple[str | int, ...], tuple[str, ...]]] = {
    "a batch Job": (batch_job, ("spec", "template", "spec"), _POD),
    "a task of Volcano": (volcano_job, ("spec", "tasks", 0, "template", "spec"), _POD),
    "a leader": (leader_worker_set, ("spec", "leaderWorkerTemplate", "leaderTemplate", "spec"), _POD),
    "the head of a RayJob": (ray_job, ("spec", "rayClusterSpec", "headGroupSpec", "template", "spec"), _POD),
    "the submitter of a RayJob": (ray_job, ("spec", "submitterPodTemplate", "spec"), _POD),
    "the driver of Spark": (spark_by_template, ("spec", "driver", "template", "spec"), _POD),
    "beside the driver of Spark": (spark, ("spec", "driver"), _TEMPLATE),
    "a template of a Workflow": (workflow, ("spec", "templates", 0), _TEMPLATE),
    "a container set": (lambda: workflow("containerSet"), ("spec", "templates", 0, "containerSet"), ("containers",)),
    "defaults of a Workflow": (lambda: flow(templateDefaults={}), ("spec", "templateDefaults"), _TEMPLATE),
    "a declared kind": (lambda: elastic(template=template()), ("spec", "template", "spec"), _POD),
    "a declared kind, not counted": (
        lambda: elastic(template=template(), logger=template()),
        ("spec", "logger", "spec"),
        _POD,
    ),
}
LISTS = [
    pytest.param(made, path, one, id=f"{one} of {name}") for name, (made, path, all_) in PODS.items() for one in all_
]
ELASTIC = load_generic(DECLARED)
KINDS = {**registry.KINDS, ELASTIC.key: ELASTIC}


@pytest.mark.parametrize(("made", "path", "listed"), LISTS)
def test_a_pod_has_so_many_containers_of_a_sort(made: Callable[[], Json], path: Any, listed: str) -> None:
    whole = made()
    reach(whole, path)[listed] = several(MOST_CONTAINERS)
    assert registry.read(whole, KINDS).name == "one"
    reach(whole, path)[listed] += several(1)
    found = refusal(lambda: registry.read(whole, KINDS))
    assert set(found.values()) == {f"has {MOST_CONTAINERS + 1} entries"}
    assert all(field.endswith(f".{listed}") for field in found)


def test_templates_inside_steps_are_named_without_trying_each_name_again() -> None:
    """The name of the n-th was looked for from the first on."""

    class Counted(dict[str, Field]):
        asked = 0

        def __contains__(self, name: object) -> bool:
            self.asked += 1
            return super().__contains__(name)

    def asked(number: int) -> int:
        templates = Templates(Field(flow(steps([INLINE] * number), entrypoint="all")["spec"], Problems()), sized=False)
        templates.by_name = Counted(templates.by_name)
        templates.wave(templates.spec["entrypoint"], 0)
        return templates.by_name.asked

    assert asked(400) <= 2.1 * asked(200)


def inline(number: int) -> Json:
    return flow(steps([INLINE] * number), entrypoint="all")


def one_in_another(number: int) -> Json:
    """Groups that each run what runs many."""
    waves = [steps([{"template": f"t{each}"} for each in range(number)]) | {"name": "wave"}]
    groups = [[{"template": "wave", "withSequence": {"count": str(each)}}] for each in range(1, number)]
    return flow(*unused(number + 1), *waves, steps(*groups), entrypoint="all")


@pytest.mark.parametrize("made", [inline, one_in_another])
def test_what_a_workflow_costs_grows_with_its_length(made: Callable[[int], Json]) -> None:
    def cost(number: int) -> int:
        def read() -> None:
            with pytest.raises(Refused):  # for its pod sets, which are more than a job may have, or none
                registry.read(made(number))

        return work(read)

    assert cost(800) <= 2.3 * cost(400)


FEW_BYTES = {
    "volumes": {"volumes": [{}]},
    "tolerations": {"tolerations": [{}]},
    "sysctls": {"securityContext": {"sysctls": [{}]}},
    "what nobody knows": {"x": [{}]},
}


def pod_with(entries: Json, times: int) -> Json:
    """A batch Job whose pod has the one list in `entries` so many times."""
    made = batch_job()
    pod = made["spec"]["template"]["spec"]
    for key, value in entries.items():
        pod[key] = value * times if isinstance(value, list) else {each: one * times for each, one in value.items()}
    return made


@pytest.mark.parametrize("entries", FEW_BYTES.values(), ids=FEW_BYTES)
def test_a_job_of_very_many_small_values_is_refused_before_they_are_read(entries: Json) -> None:
    once, twice = (pod_with(entries, times * registry.MOST_VALUES) for times in (1, 2))
    assert refusal(lambda: registry.read(once)) == {"spec": f"has more than {registry.MOST_VALUES} fields and values"}
    assert work(lambda: refusal(lambda: registry.read(twice))) < 1.1 * work(
        lambda: refusal(lambda: registry.read(once))
    )


def test_a_job_of_many_values_is_read() -> None:
    made = pod_with({"volumes": [{"name": "a", "emptyDir": {}}]}, 10_000)
    assert registry.read(made).pod_sets
