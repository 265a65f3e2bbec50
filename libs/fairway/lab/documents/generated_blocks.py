"""Pages that people write and programs fill in: what stands between two markers of a name is generated.

<!-- NAME: written by `make schemas` -->
...
<!-- end of NAME -->
"""

from collections.abc import Iterable, Mapping, Sequence


def filled(page: str, parts: Mapping[str, str]) -> str:
    """The page with each part between its markers. A part without a place raises."""
    for name, text in parts.items():
        begin = f"<!-- {name}: written by `make schemas` -->\n"
        end = f"<!-- end of {name} -->"
        before, there, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not (there and closed):
            raise ValueError(f"the page has no place for {name}")
        page = f"{before}{begin}\n{text}\n{end}{after}"
    return page


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n".replace("|  |", "| |") for cells in lines)
