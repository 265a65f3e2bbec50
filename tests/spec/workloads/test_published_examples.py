"""Honest jobs still pass: our verdict on every example that the operators publish, by its name."""

from pathlib import Path

import pytest
import yaml

from fairway.lab.kubereal.sources.examples import MODULES
from tests.cases.pod_flaws import Json
from tests.spec.workloads.published import ACCEPTED, UNREADABLE, VERDICTS, documents, verdict, verdicts

KNOWN = yaml.safe_load(VERDICTS.read_text())


@pytest.mark.usefixtures("kubernetes")
@pytest.mark.parametrize("module", MODULES)
def test_every_example_is_judged_as_it_is_written_down(module: str) -> None:
    assert verdicts(module) == KNOWN[module]


def test_what_is_refused_is_nothing_that_an_administrator_could_not_allow() -> None:
    """But for the few that no fleet could run."""
    refused = [one for found in KNOWN.values() for one in found.values() if one != ACCEPTED]
    unsafe = [one for one in refused if one.startswith("UnsafePod")]
    assert unsafe and all("(TenantProfile spec." in one for one in unsafe)
    assert {one.split()[0] for one in refused} == {"Invalid", "UnsafePod", "UnknownKind", UNREADABLE}


@pytest.mark.usefixtures("kubernetes")
def test_most_of_them_are_accepted() -> None:
    every = [verdict for module in MODULES for verdict in verdicts(module).values()]
    assert (every.count(ACCEPTED), len(every)) == (340, 382)


# Two are there to be refused, one has no content, and one is no YAML; a job on a cluster of another job has no pods of
# its own to place; where a pod of a Workflow may run, and whether a CronWorkflow runs, is known only then; and a
# Deployment is of no kind that is known, in an AppWrapper either.
NOBODYS = {
    "example/invalid_jobs/duplicatedTaskName-webhook-deny.yaml",
    "example/invalid_jobs/minAvailable-webhook-deny.yaml",
    "config/samples/batch_v1alpha2_jobset.yaml",
    "config/samples/ray-job.use-existing-raycluster.yaml",
    "examples/cron-when.yaml",
    "examples/node-selector.yaml",
    "examples/spark-pi-prometheus.yaml",
    "samples/wrapped-deployment.yaml",
}


@pytest.mark.usefixtures("kubernetes")
def test_where_an_administrator_allows_what_they_ask_for_all_but_eight_are_accepted() -> None:
    refused = [name for module in MODULES for name, one in verdicts(module, profile=True).items() if one != ACCEPTED]
    assert sorted(refused) == sorted(NOBODYS)


def cron_job(schedule: str = "@daily", **pod: object) -> Json:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}], **pod}}
    spec = {"schedule": schedule, "jobTemplate": {"spec": {"template": template}}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"}, "spec": spec}


HOST = "UnsafePod spec.template.spec.hostNetwork (TenantProfile spec.podSecurity)"


@pytest.mark.parametrize(
    ("what", "want"),
    [
        pytest.param(cron_job(), ACCEPTED, id="a schedule whose run is accepted"),
        pytest.param(cron_job("never"), "Invalid spec.schedule (nobody)", id="one that never runs"),
        pytest.param(cron_job(hostNetwork=True), HOST, id="one whose run is refused"),
        pytest.param(None, UNREADABLE, id="what cannot be read"),
    ],
)
def test_a_schedule_is_judged_by_its_run(what: Json | None, want: str) -> None:
    assert verdict(what, {}.get) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("kind: A\n---\n- no object\n---\nkind: B\n", [{"kind": "A"}, {"kind": "B"}]),
        ("kind: A\n---\nimage: {A}/b\n---\nkind: B\n", [{"kind": "A"}, None]),
    ],
    ids=["every object of a file", "no more behind what cannot be read"],
)
def test_a_document_that_cannot_be_read_stands_among_the_others(text: str, want: list[Json], tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(text)
    assert documents(tmp_path / "x.yaml") == want
