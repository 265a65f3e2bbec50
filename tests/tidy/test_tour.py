"""The files that a newcomer reads are short, and README names them in the order in which they are to be read."""

import re

import pytest

from tests.tidy.source import ROOT

LINES = 120
SERVICES = ("admission", "quota", "queue", "global_scheduler", "reserver", "propagator", "watcher", "hub")
README = (ROOT / "README.md").read_text()
TOUR = ["proto/fairway/wire/jobs.py", *(f"services/fairway/{name}/decide.py" for name in SERVICES)]


@pytest.mark.parametrize("path", TOUR)
def test_a_file_of_the_tour_is_short(path: str) -> None:
    assert len((ROOT / path).read_text().splitlines()) < LINES


def test_readme_leads_through_them_in_order_and_ends_at_the_loop() -> None:
    rows = re.findall(r"^\| \d \| \[\S+\]\((\S+?\.py)\).* \| \[\S+\]\((\S+?\.py)\)", README, re.MULTILINE)
    assert [first for first, _ in rows] == TOUR
    assert re.findall(r"\]\((\S+?\.py)\)", README)[-1] == "libs/fairway/runtime/loop.py"


def test_the_file_next_to_each_is_one_that_it_works_with() -> None:
    """The decision imports it, or the other way round; jobs.py takes the messages of lifecycle.py."""
    rows = re.findall(r"^\| \d \| \[\S+\]\((\S+?\.py)\).* \| \[\S+\]\((\S+?\.py)\)", README, re.MULTILINE)
    apart = [pair for pair in rows if not (_imports(*pair) or _imports(*reversed(pair)) or _meet(*pair))]
    assert apart == []


def _imports(one: str, other: str) -> bool:
    name = re.sub(r"^\w+/", "", other).removesuffix(".py").replace("/", ".")
    package, _, module = name.rpartition(".")
    text = (ROOT / one).read_text()
    return f"from {name} import" in text or re.search(rf"from {package} import .*\b{module}\b", text) is not None


def _meet(one: str, other: str) -> bool:
    """Through the calls that one decides on and the other carries out."""
    calls = f"{one.rpartition('/')[0]}/calls.py"
    return (ROOT / calls).exists() and _imports(one, calls) and _imports(other, calls)
