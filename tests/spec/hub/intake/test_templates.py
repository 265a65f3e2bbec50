"""Workflows that refer to templates: they wait for them, and are submitted written out."""

import pytest

from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import HubObject
from fairway.workloads.references import Reference
from tests.cases.workflow_templates import LIB, WIDE, container, ref, step, steps, template, workflow
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.intake.test_what_holds import MOMENT
from tests.spec.hub.workflow_objects import ALL, TRAIN, WHOLE, cpus, lib, objects, version


def test_a_workflow_is_submitted_with_what_it_refers_to_copied_in() -> None:
    one = HubDriver()
    one.apply(ALL, lib(3), TRAIN)
    one.run(2 * MOMENT)
    (said,) = one.submissions(TRAIN)
    assert cpus([said]) == ["3"]
    assert said.hub is not None
    (used,) = said.hub.templates
    assert Reference(used.kind, used.namespace, used.name) == LIB
    assert (used.uid, used.version, len(used.digest)) == ("uid-lib", version(one, lib()), 32)


def test_a_job_of_a_plain_workflow_says_nothing_of_templates() -> None:
    plain = objects(workflow(container("main")))
    one = HubDriver()
    one.apply(ALL, lib(), plain)
    one.run(2 * MOMENT)
    (said,) = one.submissions(plain)
    assert said.hub is not None and (said.hub.templates, said.hub.wish) == ((), "")


@pytest.mark.parametrize(
    ("train", "missing", "text"),
    [
        (TRAIN, lib(3), "WorkflowTemplate lib in namespace team-a"),
        (WHOLE, lib(3, WIDE), "ClusterWorkflowTemplate wide"),
    ],
    ids=["of its namespace", "of the cluster"],
)
def test_a_workflow_waits_for_its_template_and_goes_when_it_appears(
    train: HubObject, missing: HubObject, text: str
) -> None:
    one = HubDriver()
    one.apply(ALL, train)
    one.run(30_000)
    held = one.held(train)
    assert held is not None
    assert (held.why.code, one.submissions(train)) == (Code.UNKNOWN_TEMPLATE, [])
    assert f"there is no {text}" in held.why.text and held.why.remedy
    assert one.events(train) == ["UnknownTemplate"]
    one.apply(missing)
    one.run(2 * MOMENT)
    assert (cpus(one.submissions(train)), one.held(train)) == (["3"], None)


def test_a_template_of_another_namespace_is_nobody_elses() -> None:
    one = HubDriver()
    one.apply(ALL, lib(3, LIB._replace(namespace="team-b")), TRAIN)
    one.run(30_000)
    assert one.submissions(TRAIN) == []


def test_it_waits_for_the_template_that_its_template_refers_to_and_for_one_that_is_added_to_it() -> None:
    outer = steps("a", step(templateRef=ref("wide", "b", wide=True)))
    one = HubDriver()
    one.apply(ALL, objects(template(LIB, outer)), TRAIN)
    one.run(30_000)
    one.apply(lib(3, WIDE))
    one.run(30_000)
    held = one.held(TRAIN)
    assert held is not None and "wide has no template 'b'" in held.why.text
    one.apply(objects(template(LIB, steps("a", step(templateRef=ref("wide", "a", wide=True))))))
    one.run(2 * MOMENT)
    assert cpus(one.submissions(TRAIN)) == ["3"]


def test_what_cannot_be_written_out_is_held_with_the_field_that_says_why() -> None:
    late = objects(workflow(steps("main", step(templateRef=ref("{{item}}", "a")))))
    one = HubDriver()
    one.apply(ALL, late)
    one.run(30_000)
    held = one.held(late)
    assert held is not None and held.why.code is Code.INVALID
    assert "only at run time" in held.why.text


def test_it_waits_for_the_priority_class_that_its_template_names() -> None:
    one = HubDriver()
    one.apply(ALL, lib(3, WIDE, podPriorityClassName="high"), WHOLE)
    one.run(30_000)
    held = one.held(WHOLE)
    assert held is not None and held.why.code is Code.UNKNOWN_PRIORITY_CLASS


def test_a_template_that_changes_while_the_workflow_waits_for_a_policy_counts() -> None:
    one = HubDriver()
    one.apply(lib(1), TRAIN)
    one.run(30_000)
    one.apply(lib(2))
    one.run(30_000)
    one.apply(ALL)
    one.run(2 * MOMENT)
    assert cpus(one.submissions(TRAIN)) == ["2"]
