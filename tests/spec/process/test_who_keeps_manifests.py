"""The keeper of manifests runs where it is told for how long they are kept, and nowhere else."""

import pytest

from fairway.lab.fleet.foreground import simulated
from fairway.process.main import run
from fairway.process.pipeline import EVERYTHING, everything
from fairway.process.settings import Settings


async def test_who_asks_for_it_by_name_is_told_of_the_setting() -> None:
    with pytest.raises(ValueError, match=r"the service keeper has nothing to do .* set FAIRWAY_MANIFESTS_KEPT"):
        await run(("keeper",), Settings())


def test_all_services_are_without_it_unless_it_is_set() -> None:
    assert everything(0) == EVERYTHING
    assert everything(600) == (*EVERYTHING, "keeper")


def test_fairway_up_runs_it_where_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert simulated(1).groups == (EVERYTHING,)
    monkeypatch.setenv("FAIRWAY_MANIFESTS_KEPT", "12h")
    assert simulated(1).groups == ((*EVERYTHING, "keeper"),)
