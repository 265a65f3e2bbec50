"""docs/kinds.md has every kind that is built in, in both of its tables, and names tests that try what it says."""

import re

from fairway.workloads.kinds.registry import KINDS
from tests.kubernetes.support.manifests import EXAMPLES_OF_KINDS
from tests.tidy.source import ROOT

PAGE = (ROOT / "docs/kinds.md").read_text()
_TEST = re.compile(r"`([\w/]+/test_\w+\.py)`")
_REAL = "kubernetes/test_kinds.py"


def _rows(heading: str) -> list[list[str]]:
    part = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in part.splitlines() if line[:1] == "|"]
    return rows[2:]


def _names(cell: str) -> list[str]:
    """Of the kinds in the first column; two are called Job."""
    return [re.sub(r"^Job \(Volcano\)$", "VolcanoJob", name) for name in cell.split(", ")]


def test_every_kind_is_there_with_its_versions() -> None:
    read = {
        f"{name.replace('VolcanoJob', 'Job')}.{version}"
        for row in _rows("What is read")
        for name in _names(row[0])
        for version in re.findall(r"`([^`]+)`", row[1])
    }
    assert read == set(KINDS)
    ends = [name for row in _rows("How it ends") for name in _names(row[0])]
    assert sorted(ends) == sorted({name for row in _rows("What is read") for name in _names(row[0])})


def test_what_does_not_go_to_a_member_is_named() -> None:
    above = ""
    for row in _rows("What is read"):
        said = above if row[-1] == "as above" else row[-1]
        above = said
        sent_not = said.split("not sent: ")[1].split(";")[0] if "not sent: " in said else ""
        for version in re.findall(r"`([^`]+)`", row[1]):
            for name in _names(row[0]):
                dropped = {path[-1] for path in KINDS[f"{name.replace('VolcanoJob', 'Job')}.{version}"].drop}
                assert set(re.findall(r"`([^`]+)`", sent_not)) == dropped - {"managedBy"}, name


def test_what_is_said_of_real_operators_is_tried_with_them() -> None:
    tried = {one.kind for one in EXAMPLES_OF_KINDS}
    said = {name for row in _rows("How it ends") if _REAL in row[-1] for name in _names(row[0])}
    assert said == tried


def test_every_test_that_the_page_names_is_there() -> None:
    assert [path for path in _TEST.findall(PAGE) if not (ROOT / "tests" / path).is_file()] == []
