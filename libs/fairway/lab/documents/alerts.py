"""`python -m fairway.lab.documents.alerts`: writes the table of alerts into docs/runbooks/README.md."""

from pathlib import Path
from typing import Any

import typer
import yaml

from fairway.lab.documents.generated_blocks import filled, table

RULES = Path("deploy/prometheus/alerts.yaml")
PAGE = Path("docs/runbooks/README.md")


def page(root: Path) -> str:
    """The whole page, with one row an alert in the order of the rules."""
    groups = yaml.safe_load((root / RULES).read_text("utf-8"))["groups"]
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    rows = table(("alert", "severity", "when"), map(_row, alerts))
    return filled((root / PAGE).read_text("utf-8"), {"alerts": rows.rstrip("\n")})


def _row(alert: dict[str, Any]) -> tuple[str, str, str]:
    name = alert["alert"]
    lasting = f", for {alert['for']}" if "for" in alert else ""
    when = " ".join(alert["expr"].split()).replace("|", "\\|")
    return f"[{name}]({name}.md)", alert["labels"]["severity"], f"`{when}`{lasting}"


def write(root: Path) -> str:
    """Writes the page; returns its path below `root`."""
    (root / PAGE).write_text(page(root), "utf-8")
    return str(PAGE)


if __name__ == "__main__":
    typer.echo(f"wrote {write(Path())}")
