"""Links of Markdown pages lead to a file or heading of the checkout, and files that are named are there."""

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from tests.tidy.source import ROOT, Source, paths, sources

# [text](target) and [name]: target, without code blocks.
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
# Programs in the images of examples, and files that tests make up.
NOT_OURS = ("deploy/examples", "tests/spec/workloads/fixtures", "tests/tidy", "libs/fairway/lab/bench")


def dead_links(page: Source) -> list[str]:
    home = (ROOT / page.path).parent
    targets = ["".join(groups) for groups in _LINK.findall(_FENCE.sub("", page.text))]
    local = [target for target in targets if "://" not in target and not target.startswith("mailto:")]
    return [f"{page.path}: {target}" for target in local if not _leads_somewhere(page, home, target)]


def _leads_somewhere(page: Source, home: Path, target: str) -> bool:
    name, _, part = target.partition("#")
    found = (home / name).resolve()
    if name and not (found.exists() and found.is_relative_to(ROOT)):
        return False
    if not part or (name and found.suffix != ".md"):
        return True
    return part in _headings(found.read_text() if name else page.text)


@lru_cache
def _headings(text: str) -> frozenset[str]:
    """As links name them: in small letters, a hyphen for each blank, without other signs; a second one is numbered."""
    seen = Counter[str]()
    names = list[str]()
    for title in re.findall(r"^#{1,6} (.+)$", _FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).strip().lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        names.append(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frozenset(names)


def test_no_page_has_a_dead_link() -> None:
    assert [dead for page in sources(".md") for dead in dead_links(page)] == []


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("[a](Makefile)", [], id="a file that is there"),
        pytest.param("[a](https://example.org/x)", [], id="the web is not asked"),
        pytest.param("# A *part*, of `it`\n[a](#a-part-of-it)", [], id="a part of the same page"),
        pytest.param("# A\n# A\n[a](#a) [a](#a-1)", [], id="two parts of one name"),
        pytest.param("```\n# part\n```\n[a](#part)", ["page.md: #part"], id="a part that is not there"),
        pytest.param("[a](README.md#part)", ["page.md: README.md#part"], id="nor in another page"),
        pytest.param("[a](nowhere.md#part)", ["page.md: nowhere.md#part"], id="a file that is not there"),
        pytest.param("[a]: nowhere.md", ["page.md: nowhere.md"], id="a reference"),
        pytest.param("[a](../outside.md)", ["page.md: ../outside.md"], id="out of the checkout"),
        pytest.param("```\n[a](nowhere.md)\n```", [], id="an example in a code block"),
    ],
)
def test_a_link(text: str, want: list[str]) -> None:
    assert dead_links(Source("page.md", text)) == want


def test_every_file_that_a_comment_or_a_page_names_is_there() -> None:
    """By its last name: who moves a file finds out where it is spoken of."""
    there = {path.name for path in paths()}
    named = {
        f"{source.path}: {name}"
        for source in sources(".py", ".md", ".lua", ".yaml")
        if not source.path.startswith((*NOT_OURS, "CHANGELOG", "docs/decisions"))
        for name in re.findall(r"\b[a-z][a-z_]+\.(?:py|lua)\b", source.text)
        if name not in there
    }
    assert sorted(named) == []
