"""`submit` copies the templates in its files into the workflows that refer to them."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from fairway.cli.main import app
from fairway.cli.manifests import Document
from fairway.cli.templates import written_out
from tests.cases.workflow_templates import LIB, WIDE, Json, container, ref, step, template, workflow

MAIN = {"name": "main", "steps": [[step(templateRef=ref("lib", "a"))]]}


def dry_run(*manifests: Json) -> list[dict[str, Any]]:
    text = "---\n".join(json.dumps(one) + "\n" for one in manifests)
    done = CliRunner().invoke(app, ["submit", "--dry-run", "-o", "json", "-f", "-"], input=text)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("order", [1, -1])
def test_a_workflow_is_sized_with_the_template_that_is_in_the_same_file(order: int) -> None:
    big = container("a")
    big["container"]["resources"] = {"requests": {"cpu": "3"}}
    found = dry_run(*(workflow(MAIN), template(LIB, big))[::order])
    assert all(one["accepted"] for one in found)
    (job,) = [one for one in found if one["kind"] == "Workflow"]
    assert [one["requests"] for one in job["pod_sets"]] == [{"cpu": 3_000}]


def test_what_is_submitted_is_the_workflow_written_out() -> None:
    whole = workflow(workflowTemplateRef={"name": "wide", "clusterScope": True})
    made, _ = written_out([Document("f", whole), Document("f", template(WIDE, container("main")))])
    assert made.manifest["spec"] == {"entrypoint": "main", "templates": [container("main")]}


def test_a_template_that_no_workflow_of_the_files_names_says_that_it_goes_nowhere() -> None:
    used, unused, _ = dry_run(template(LIB, container("a")), template(WIDE, container("main")), workflow(MAIN))
    assert "warnings" not in used
    assert (unused["accepted"], "apply it on the hub with kubectl apply -f" in unused["warnings"][0]) == (True, True)
    (alone,) = dry_run(template(LIB, container("a")))
    assert alone["warnings"] == unused["warnings"]


def test_a_workflow_without_its_template_is_refused_with_what_to_do() -> None:
    (job,) = dry_run(workflow(MAIN))
    assert {one["field"] for one in job["reasons"]} == {"spec.templates[0].steps[0][0].templateRef"}
    assert all("apply both on the hub, or submit them in one file" in one["remedy"] for one in job["reasons"])


def test_a_template_that_is_missing_among_others_is_named() -> None:
    second = {"name": "second", "steps": [[step(templateRef=ref("other", "b"))]]}
    job, _ = dry_run(workflow(MAIN, second), template(LIB, container("a")))
    (why,) = job["reasons"]
    assert (why["code"], why["field"]) == ("UnknownTemplate", "spec.templates[1].steps[0][0].templateRef")
    assert "WorkflowTemplate other" in why["text"] and "-f" in why["remedy"]


def test_what_can_never_be_written_out_is_refused_before_there_is_a_fleet() -> None:
    late = {"name": "main", "steps": [[step(templateRef=ref("{{item}}", "a"))]]}
    (job,) = dry_run(workflow(late))
    assert [(one["code"], "only at run time" in one["text"]) for one in job["reasons"]] == [("Invalid", True)]
