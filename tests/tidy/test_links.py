"""Every relative link of every Markdown page leads to a file or folder of the checkout."""

import re
from pathlib import Path

import pytest
from source import ROOT, Source, sources

# [text](target) and [name]: target, without code blocks.
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)


def dead_links(page: Source) -> list[str]:
    home = (ROOT / page.path).parent
    targets = ["".join(groups) for groups in _LINK.findall(_FENCE.sub("", page.text))]
    local = [t.partition("#")[0] for t in targets if "://" not in t and not t.startswith(("#", "mailto:"))]
    return [f"{page.path}: {target}" for target in local if not _leads_somewhere(home, target)]


def _leads_somewhere(home: Path, target: str) -> bool:
    found = (home / target).resolve()
    return found.exists() and found.is_relative_to(ROOT)


def test_no_page_has_a_dead_link() -> None:
    assert [dead for page in sources(".md") for dead in dead_links(page)] == []


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("[a](Makefile)", [], id="a file that is there"),
        pytest.param("[a](https://example.org/x)", [], id="the web is not asked"),
        pytest.param("[a](#part)", [], id="a part of the same page"),
        pytest.param("[a](nowhere.md#part)", ["page.md: nowhere.md"], id="a file that is not there"),
        pytest.param("[a]: nowhere.md", ["page.md: nowhere.md"], id="a reference"),
        pytest.param("[a](../outside.md)", ["page.md: ../outside.md"], id="out of the checkout"),
        pytest.param("```\n[a](nowhere.md)\n```", [], id="an example in a code block"),
    ],
)
def test_a_link(text: str, want: list[str]) -> None:
    assert dead_links(Source("page.md", text)) == want
