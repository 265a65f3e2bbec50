"""How much a workflow may refer to, and what becomes of odd values on the way."""

from itertools import pairwise
from typing import Any

import pytest

from fairway.wire.reasons import Code
from fairway.workloads.reading.parse import LARGEST_TEXT
from fairway.workloads.references import MOST_REFERENCES, Reference
from fairway.workloads.workflow.referenced_specs import WORKFLOW_TEMPLATE
from fairway.workloads.workflow.written_out import written_out
from tests.cases.workflow_templates import LIB, Json, container, finds, ref, step, steps, template, workflow


def test_one_workflow_refers_to_no_more_than_a_few_dozen_objects() -> None:
    names = [f"lib-{number}" for number in range(MOST_REFERENCES + 1)]
    own = workflow(steps("main", *(step(name=name, templateRef=ref(name, "a")) for name in names)))
    there = finds(*(template(LIB._replace(name=name), container("a")) for name in names))
    made = written_out(own, there)
    assert [one.code for one in made.wrong] == [Code.TOO_LARGE]
    assert len(made.used) == MOST_REFERENCES


def test_a_chain_of_objects_ends_where_there_are_too_many() -> None:
    names = [f"lib-{number}" for number in range(3 * MOST_REFERENCES)]
    chain = [
        template(LIB._replace(name=name), steps("a", step(templateRef=ref(following, "a"))))
        for name, following in pairwise(names)
    ]
    made = written_out(workflow(steps("main", step(templateRef=ref(names[0], "a")))), finds(*chain))
    assert ([one.code for one in made.wrong], len(made.used)) == ([Code.TOO_LARGE], MOST_REFERENCES)


@pytest.mark.parametrize("parts", [1, 4], ids=["alone", "together"])
def test_all_templates_are_together_no_larger_than_one_manifest(parts: int) -> None:
    text = "x" * (LARGEST_TEXT // parts)
    names = [f"lib-{number}" for number in range(parts)]
    there = finds(*(template(LIB._replace(name=name), container("a"), onExit=text) for name in names))
    own = workflow(steps("main", *(step(name=name, templateRef=ref(name, "a")) for name in names)))
    (why,) = written_out(own, there).wrong
    assert why.code is Code.TOO_LARGE and why.field.startswith("spec.templates[0]")


def test_a_workflow_is_with_its_templates_no_larger_than_one_manifest() -> None:
    own = workflow(steps("main", step(templateRef=ref("lib", "a"))), onExit="x" * (LARGEST_TEXT // 2))
    big = container("a")
    big["container"]["args"] = ["x" * (LARGEST_TEXT // 2)]
    (why,) = written_out(own, finds(template(LIB, big))).wrong
    assert (why.code, why.field) == (Code.TOO_LARGE, "spec")


def nested(levels: int) -> Json:
    made = container("deep")
    for _ in range(levels):
        made = {"name": "deep", "steps": [[{"name": "s", "inline": made}]]}
    return made


def test_what_is_nested_too_deep_is_not_read() -> None:
    own = workflow(nested(200), steps("main", step(templateRef=ref("lib", "deep"))))
    assert written_out(own, finds()).manifest is own
    far = workflow(steps("main", step(templateRef=ref("lib", "deep"))))
    (theirs,) = written_out(far, finds(template(LIB, nested(200)))).wrong
    assert theirs.code is Code.TOO_LARGE


_ODD: list[Any] = [None, 5, "x", [], {}, [5], [[5]], {"name": 5}, [{"name": []}], True]


@pytest.mark.parametrize("odd", _ODD, ids=repr)
@pytest.mark.parametrize(
    "place", ["spec", "templates", "steps", "group", "step", "dag", "tasks", "hooks", "ref", "whole"]
)
def test_odd_values_are_left_to_admission_in_a_workflow_and_in_what_it_refers_to(place: str, odd: Any) -> None:
    good = workflow(steps("main", step(templateRef=ref("lib", "main"))))
    for own, there in ((_with(good, place, odd), template(LIB, container("main"))), (good, _with(good, place, odd))):
        lib = {**there, "kind": "WorkflowTemplate", "metadata": {"name": "lib", "namespace": "team-a"}}
        for spec in (own["spec"], {"workflowTemplateRef": {"name": "lib"}}):
            made = written_out({**own, "spec": spec}, finds(lib))
            assert isinstance(made.manifest, dict)


def _with(manifest: Json, place: str, odd: Any) -> Json:
    one = steps("main", step(templateRef=ref("lib", "main")))
    made: dict[str, Any] = {
        "templates": odd,
        "steps": [{**one, "steps": odd}],
        "group": [{**one, "steps": [odd]}],
        "step": [{**one, "steps": [[odd]]}],
        "dag": [{"name": "main", "dag": odd}],
        "tasks": [{"name": "main", "dag": {"tasks": odd}}],
        "hooks": [steps("main", step("x", hooks=odd))],
        "ref": [steps("main", step(templateRef=odd))],
    }
    spec = {"spec": odd, "whole": {**manifest["spec"], "workflowTemplateRef": odd}}
    return {**manifest, "spec": spec[place] if place in spec else {**manifest["spec"], "templates": made[place]}}


def test_a_reference_that_is_left_over_is_refused_as_before() -> None:
    left = written_out(workflow(steps("main", step(templateRef="lib"))), finds())
    assert left.manifest["spec"]["templates"][0]["steps"][0][0]["templateRef"] == "lib"
    assert Reference(WORKFLOW_TEMPLATE, "team-a", "lib") not in left.used
