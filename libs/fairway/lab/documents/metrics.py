"""`python -m fairway.lab.documents.metrics`: writes the tables of docs/metrics.md from the table of families."""

from pathlib import Path

import typer

from fairway.lab.documents.generated_blocks import filled, table
from fairway.runtime.metrics.families import FAMILIES, HISTOGRAM, LIBRARY_FAMILIES, Family

PAGE = Path("docs/metrics.md")
_UNITS = {"_seconds": "seconds", "_bytes": "bytes"}


def page(root: Path) -> str:
    return filled((root / PAGE).read_text("utf-8"), {"metrics": metrics()})


def metrics() -> str:
    every = sorted((*FAMILIES, *LIBRARY_FAMILIES), key=lambda one: one.name)
    rows = [(f"`{one.name}`", one.kind, _labels(one), _unit(one), _teller(one), one.text) for one in every]
    return table(("metric", "type", "labels", "unit", "told by", "meaning"), rows)


def _labels(one: Family) -> str:
    return ", ".join(f"`{label}`" for label in one.labels)


def _unit(one: Family) -> str:
    """A histogram's and an age's by its name; of an amount its label says it."""
    if "unit" in one.labels:
        return "label `unit`"
    found = next((unit for end, unit in _UNITS.items() if one.name.endswith(end)), "")
    assert found or one.kind != HISTOGRAM, f"{one.name} has a unit"
    return found


def _teller(one: Family) -> str:
    who = f"`{one.told_by}`" if one.told_by else "every service"
    return f"{who}, {one.by}"


if __name__ == "__main__":
    PAGE.write_text(page(Path()), "utf-8")
    typer.echo(f"wrote {PAGE}")
