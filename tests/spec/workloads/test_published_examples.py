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
