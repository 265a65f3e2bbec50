"""docs/security.md says of every attack, and of everything that was found by attacking, what decides it: tests that are
there, or in one word that nobody protects yet."""

import re

import pytest

from tests.tidy.source import ROOT

PAGE = (ROOT / "docs/security.md").read_text()
_TEST = re.compile(r"`([\w/]+/test_\w+\.py)(?:::(\w+))?`")
_ROW = re.compile(r"^\| (F?\d+) \|(.*)\|$", re.MULTILINE)
ROWS = dict(_ROW.findall(PAGE))


def missing(page: str) -> list[str]:
    """The tests that a page names and that are not there."""
    return [f"{path}::{name}" for path, name in _TEST.findall(page) if not _is_there(path, name)]


def _is_there(path: str, name: str) -> bool:
    file = ROOT / "tests" / path
    return file.is_file() and (not name or re.search(rf"^(async )?def {name}\(", file.read_text(), re.M) is not None)


def decided(row: str) -> bool:
    return bool(_TEST.search(row) or {"`open`"} & set(re.findall(r"`\w+`", row)))


def test_every_attack_and_every_finding_has_its_row() -> None:
    rows = [number for number, _ in _ROW.findall(PAGE)]
    assert rows == [*map(str, range(1, 30)), *(f"F{number}" for number in range(1, 17))]


@pytest.mark.parametrize("number", ROWS)
def test_a_row_names_a_test_or_says_that_there_is_none(number: str) -> None:
    assert decided(ROWS[number])


def test_every_test_that_the_page_names_is_there() -> None:
    assert len(_TEST.findall(PAGE)) > 60
    assert missing(PAGE) == []
    # Whatever looks like the name of a test is one of those that were looked for.
    assert len(re.findall(r"test_\w+\.py", PAGE)) == len(_TEST.findall(PAGE))


@pytest.mark.parametrize(
    ("page", "want"),
    [
        pytest.param("`tidy/test_links.py`", [], id="a file that is there"),
        pytest.param("`tidy/test_links.py::test_a_link`", [], id="a test that is there"),
        pytest.param("`tidy/test_none.py`", ["tidy/test_none.py::"], id="a file that is not there"),
        pytest.param("`tidy/test_links.py::test_a`", ["tidy/test_links.py::test_a"], id="half the name of a test"),
    ],
)
def test_a_test_that_is_not_there_is_found(page: str, want: list[str]) -> None:
    assert missing(page) == want


def test_a_row_of_words_alone_is_not_decided() -> None:
    assert not decided("| an attack | we take care | of course |")
