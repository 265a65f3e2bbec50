"""The files that a newcomer reads are short, and README names them in the order in which they are to be read."""

import re

import pytest

from tests.tidy.source import ROOT

LINES = 120
SERVICES = ("admission", "quota", "queue", "global_scheduler", "reserver", "propagator", "watcher")
TOUR = ["proto/fairway/wire/jobs.py", *(f"services/fairway/{name}/decide.py" for name in SERVICES)]


@pytest.mark.parametrize("path", TOUR)
def test_a_file_of_the_tour_is_short(path: str) -> None:
    assert len((ROOT / path).read_text().splitlines()) < LINES


def test_readme_leads_through_them_in_order_and_ends_at_the_loop() -> None:
    linked = re.findall(r"\]\((\S+?\.py)\)", (ROOT / "README.md").read_text())
    assert linked == [*TOUR, "libs/fairway/runtime/loop.py"]
