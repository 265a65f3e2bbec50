"""Honest jobs still pass: our verdict on every example that the operators publish, by its name."""

import pytest
import yaml

from fairway.lab.kubereal.sources.examples import MODULES
from tests.spec.workloads.published import ACCEPTED, VERDICTS, verdicts

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
    assert {one.split()[0] for one in refused} == {"Invalid", "UnsafePod", "UnknownKind"}


@pytest.mark.usefixtures("kubernetes")
def test_most_of_them_are_accepted() -> None:
    every = [verdict for module in MODULES for verdict in verdicts(module).values()]
    assert (every.count(ACCEPTED), len(every)) == (334, 374)


# Two are there to be refused, one has no content; a job on a cluster of another job has no pods of its own to place;
# where a pod of a Workflow may run is known only when it runs; and a Deployment is of no kind that is known, in an
# AppWrapper either.
NOBODYS = {
    "example/invalid_jobs/duplicatedTaskName-webhook-deny.yaml",
    "example/invalid_jobs/minAvailable-webhook-deny.yaml",
    "config/samples/batch_v1alpha2_jobset.yaml",
    "config/samples/ray-job.use-existing-raycluster.yaml",
    "examples/node-selector.yaml",
    "samples/wrapped-deployment.yaml",
}


@pytest.mark.usefixtures("kubernetes")
def test_where_an_administrator_allows_what_they_ask_for_all_but_six_are_accepted() -> None:
    refused = [name for module in MODULES for name, one in verdicts(module, profile=True).items() if one != ACCEPTED]
    assert sorted(refused) == sorted(NOBODYS)
