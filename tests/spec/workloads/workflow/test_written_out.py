"""A workflow whose templates lie elsewhere is written out as Argo 3.6 would resolve it."""

import pytest

from fairway.wire.reasons import Code
from fairway.workloads.kinds import registry
from fairway.workloads.references import WrittenOut
from fairway.workloads.workflow.written_out import written_out
from tests.cases.workflow_templates import LIB, WIDE, Json, container, finds, ref, step, steps, template, workflow


def by_name(made: WrittenOut) -> dict[str, Json]:
    assert not made.wrong, made.wrong
    return {one["name"]: one for one in made.manifest["spec"]["templates"]}


def runs(one: Json) -> list[str]:
    """The templates that the steps or tasks of a template run."""
    steps = [step for group in one.get("steps", ()) for step in group]
    return [step["template"] for step in (*steps, *one.get("dag", {}).get("tasks", ()))]


def test_a_workflow_without_references_stays_the_object_that_it_is() -> None:
    own = workflow(steps("main", step("a")), container("a"), hooks={"exit": {"template": "a"}})
    made = written_out(own, finds())
    assert (made.manifest is own, made.used, made.wrong) == (True, (), ())


def test_the_template_of_a_step_is_copied_in_under_another_name() -> None:
    own = workflow(steps("main", step(templateRef=ref("lib", "a"))), container("a", parallelism=7))
    made = written_out(own, finds(template(LIB, container("a"), container("unused"))))
    found = by_name(made)
    (name,) = runs(found["main"])
    assert "templateRef" not in found["main"]["steps"][0][0]
    assert name.startswith("a-") and found[name] == container(name)
    assert sorted(found) == sorted(("main", "a", name))
    assert found["a"]["parallelism"] == 7
    assert made.used == (LIB,)


def test_what_is_written_out_is_sized_with_the_templates_that_were_copied() -> None:
    big = container("a")
    big["container"]["resources"] = {"requests": {"cpu": "3"}}
    own = workflow(steps("main", step(templateRef=ref("lib", "a"), withItems=[1, 2])))
    (pods,) = registry.read(written_out(own, finds(template(LIB, big))).manifest).pod_sets
    assert (pods.count, pods.requests) == (2, {"cpu": 3_000})


@pytest.mark.parametrize("wide", [False, True])
def test_a_name_in_a_template_is_looked_for_where_that_template_is_from(wide: bool) -> None:
    lib = WIDE if wide else LIB
    inside = steps("outer", step("a", name="x", onExit="bye", hooks={"late": {"template": "bye", "expression": "x"}}))
    there = template(lib, inside, container("a", priority=1), container("bye"))
    own = workflow(steps("main", step(templateRef=ref(lib.name, "outer", wide))), container("a"), container("bye"))
    found = by_name(written_out(own, finds(there)))
    (outer,) = runs(found["main"])
    (inner,) = found[outer]["steps"][0]
    assert found[inner["template"]]["priority"] == 1
    assert inner["onExit"] == inner["hooks"]["late"]["template"] != "bye"
    assert found[inner["onExit"]] == container(inner["onExit"])


def test_a_reference_in_a_referenced_template_counts_in_the_namespace_of_the_workflow() -> None:
    there = template(WIDE, steps("outer", step(templateRef=ref("lib", "a"))))
    own = workflow(steps("main", step(templateRef=ref("wide", "outer", wide=True))))
    made = written_out(own, finds(there, template(LIB, container("a"))))
    assert made.used == (WIDE, LIB)
    assert len(by_name(made)) == 3


def test_tasks_hooks_and_templates_written_inline_are_resolved_as_steps_are() -> None:
    task = {"name": "t", "inline": steps("", step(templateRef=ref("lib", "a")))}
    own = workflow({"name": "main", "dag": {"tasks": [task, step(name="u", templateRef=ref("lib", "b"))]}})
    own["spec"]["hooks"] = {"exit": {"templateRef": ref("lib", "b")}}
    made = written_out(own, finds(template(LIB, container("a"), container("b"))))
    found = by_name(made)
    inline, plain = found["main"]["dag"]["tasks"]
    (b,) = runs({"dag": {"tasks": [plain]}})
    assert runs(inline["inline"])[0].startswith("a-")
    assert made.manifest["spec"]["hooks"]["exit"] == {"template": b}


def test_names_in_a_template_that_is_written_inline_are_those_of_the_object_that_it_is_in() -> None:
    inline = {"name": "i", "inline": steps("", step("a"))}
    there = template(LIB, {"name": "outer", "steps": [[inline]]}, container("a", priority=1))
    own = workflow(steps("main", step(templateRef=ref("lib", "outer"))), container("a"))
    found = by_name(written_out(own, finds(there)))
    (outer,) = runs(found["main"])
    (name,) = runs(found[outer]["steps"][0][0]["inline"])
    assert found[name]["priority"] == 1


def test_the_same_template_is_copied_once_and_may_run_itself() -> None:
    again = steps("loop", step("loop", name="again", when="{{x}} == 1"), step(name="b", templateRef=ref("lib", "loop")))
    own = workflow(steps("main", *(step(name=f"s{one}", templateRef=ref("lib", "loop")) for one in range(3))))
    found = by_name(written_out(own, finds(template(LIB, again))))
    assert len(found) == 2
    assert (
        {*runs(found["main"])} == {name for name in found if name != "main"} == {*runs(found[runs(found["main"])[0]])}
    )


def test_nothing_but_the_templates_of_an_object_counts_for_a_template_reference() -> None:
    there = template(LIB, container("a"), volumes=[{"name": "v"}], serviceAccountName="theirs", entrypoint="other")
    made = written_out(workflow(steps("main", step(templateRef=ref("lib", "a")))), finds(there))
    assert by_name(made) and {*made.manifest["spec"]} == {"entrypoint", "templates"}


def test_the_first_of_two_templates_with_one_name_counts() -> None:
    there = template(LIB, container("a", priority=1), container("a", priority=2))
    found = by_name(written_out(workflow(steps("main", step(templateRef=ref("lib", "a")))), finds(there)))
    assert [one["priority"] for one in found.values() if "priority" in one] == [1]
    whole = written_out(workflow(workflowTemplateRef={"name": "lib"}, entrypoint="a"), finds(there))
    assert [one["priority"] for one in whole.manifest["spec"]["templates"]] == [1]


def test_names_of_copies_are_free_whatever_names_the_workflow_has() -> None:
    own = workflow(steps("main", step(templateRef=ref("lib", "a"))))
    there = finds(template(LIB, container("a")))
    first = runs(by_name(written_out(own, there))["main"])[0]
    taken = workflow(*own["spec"]["templates"], container(first, priority=9))
    found = by_name(written_out(taken, there))
    (second,) = runs(found["main"])
    assert second != first and found[first]["priority"] == 9


def test_names_of_copies_are_good_for_a_label_however_long_or_odd_the_template_is_called() -> None:
    for odd in ("x" * 128, "-", "a/b", "ä", ""):
        there = template(LIB, container(odd))
        made = written_out(workflow(steps("main", step(templateRef=ref("lib", odd)))), finds(there))
        (name,) = runs(by_name(made)["main"])
        assert 0 < len(name) <= 63 and registry.read(made.manifest).pod_sets[0].name == name


def test_a_workflow_from_a_template_has_its_spec_below_its_own() -> None:
    there = template(LIB, steps("main", step("a")), container("a"), entrypoint="main", serviceAccountName="runner")
    own = workflow(workflowTemplateRef={"name": "lib"}, serviceAccountName="mine")
    del own["spec"]["entrypoint"]
    made = written_out(own, finds(there))
    assert {*by_name(made)} == {"main", "a"}
    assert {name: made.manifest["spec"][name] for name in ("entrypoint", "serviceAccountName")} == {
        "entrypoint": "main",
        "serviceAccountName": "mine",
    }
    assert "workflowTemplateRef" not in made.manifest["spec"]
    assert made.manifest["metadata"] == own["metadata"]


def test_templates_of_a_workflow_from_a_template_may_refer_to_others() -> None:
    there = template(WIDE, steps("main", step(templateRef=ref("lib", "a"))), hooks={"exit": {"template": "main"}})
    made = written_out(
        workflow(workflowTemplateRef={"name": "wide", "clusterScope": True}),
        finds(there, template(LIB, container("a"))),
    )
    assert made.used == (WIDE, LIB)
    assert runs(by_name(made)["main"])[0].startswith("a-")
    assert made.manifest["spec"]["hooks"] == {"exit": {"template": "main"}}


@pytest.mark.parametrize(
    ("own", "there", "field", "text"),
    [
        (
            workflow(workflowTemplateRef={"name": "lib"}),
            (),
            "spec.workflowTemplateRef",
            "there is no WorkflowTemplate lib in namespace team-a",
        ),
        (
            workflow(steps("main", step(templateRef=ref("lib", "a", wide=True)))),
            (template(LIB, container("a")),),
            "spec.templates[0].steps[0][0].templateRef",
            "there is no ClusterWorkflowTemplate lib",
        ),
        (
            workflow(steps("main", step(templateRef=ref("lib", "b")))),
            (template(LIB, container("a")),),
            "spec.templates[0].steps[0][0].templateRef",
            "WorkflowTemplate team-a/lib has no template 'b'",
        ),
        (
            workflow(steps("main", step(templateRef=ref("wide", "a", wide=True)))),
            (template(WIDE, steps("a", step(templateRef=ref("lib", "a")))),),
            "spec.templates[0].steps[0][0].templateRef",
            "there is no WorkflowTemplate lib in namespace team-a",
        ),
        (
            workflow(container("main"), hooks={"exit": {"templateRef": ref("lib", "a")}}),
            (template(LIB._replace(namespace="team-b"), container("a")),),
            "spec.hooks.exit.templateRef",
            "there is no WorkflowTemplate lib in namespace team-a",
        ),
    ],
    ids=["whole", "of the other scope", "an object without it", "behind another one", "of another namespace"],
)
def test_a_template_that_is_not_there_is_named_and_waited_for(
    own: Json, there: tuple[Json, ...], field: str, text: str
) -> None:
    made = written_out(own, finds(*there))
    assert [(one.code, one.field, one.text) for one in made.wrong] == [(Code.UNKNOWN_TEMPLATE, field, text)]
    assert made.waits and made.used


@pytest.mark.parametrize(
    ("own", "field", "text"),
    [
        (steps("main", step(templateRef=ref("{{item}}", "a"))), "templateRef", "only at run time"),
        (steps("main", step(templateRef=ref("lib", "late"))), "templateRef", "only at run time"),
        (steps("main", step(templateRef=ref("../lib", "a"))), "templateRef", "which is no name"),
        (
            steps("main", step(templateRef={"name": "lib", "template": "a", "clusterScope": "yes"})),
            "templateRef",
            "no name",
        ),
        (steps("main", step("a", templateRef=ref("lib", "a"))), "template", "beside templateRef"),
        (steps("main", step(templateRef=ref("lib", "a"), inline=container(""))), "templateRef", "written inline"),
    ],
    ids=["a late name", "a late name inside", "no name", "no flag", "both", "inline too"],
)
def test_what_argo_would_not_take_or_nobody_knows_before_is_refused(own: Json, field: str, text: str) -> None:
    there = template(LIB, container("a"), steps("late", step("{{item}}")))
    made = written_out(workflow(own), finds(there))
    (why,) = made.wrong
    assert (why.code, why.field, bool(why.remedy)) == (Code.INVALID, f"spec.templates[0].steps[0][0].{field}", True)
    assert text in why.text and not made.waits
