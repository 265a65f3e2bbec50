"""The alert rules of deploy/prometheus, and the metrics that the code has."""

import re
from typing import Any

import yaml
from prometheus_client import generate_latest

from fairway.queue.service import service
from fairway.runtime.metrics import Meter
from fairway.runtime.metrics.families import BY_NAME, HISTOGRAM
from fairway.runtime.views.settings import Catalog
from tests.paths import ROOT

FILE = ROOT / "deploy/prometheus/alerts.yaml"
PAGES = ROOT / "docs/runbooks"
RULES: list[dict[str, Any]] = [rule for group in yaml.safe_load(FILE.read_text())["groups"] for rule in group["rules"]]
ALERTS: dict[str, dict[str, Any]] = {rule["alert"]: rule for rule in RULES if "alert" in rule}
_NAME = re.compile(r"\bfairway[_:][\w:]+")
_PARTS = ("_bucket", "_sum", "_count")


def named(expression: str) -> set[str]:
    """The metrics, and rules that record, that an expression asks for."""
    return set(_NAME.findall(expression))


def series() -> dict[str, set[str]]:
    """Every series that a process may have, and the labels that it has there."""
    meter = Meter()
    meter.follow("queue", lambda: True)
    service(Catalog(), meter, [])
    page = generate_latest(meter.registry).decode()
    found = {}
    for name, kind in re.findall(r"^# TYPE (fairway_\w+) (\w+)$", page, re.MULTILINE):
        found.update(_of(name, kind == HISTOGRAM, _OWN_LABELS.get(name, {"service"})))
    for family in BY_NAME.values():
        found.update(_of(family.name, family.kind == HISTOGRAM, set(family.labels)))
    return found


_OWN_LABELS = {"fairway_dead_letters_total": {"service", "reason"}, "fairway_http_refusals_total": {"reason"}}


def _of(name: str, histogram: bool, labels: set[str]) -> dict[str, set[str]]:
    if not histogram:
        return {name: labels}
    return {f"{name}{part}": labels | ({"le"} if part == "_bucket" else set()) for part in _PARTS}
