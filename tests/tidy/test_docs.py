"""docs/operations.md names every setting, metric and exit code that the code has, and no others."""

import re

from prometheus_client import generate_latest
from source import ROOT, sources

from fairway.app import failure
from fairway.queue.service import service
from fairway.runtime.catalog import Catalog
from fairway.runtime.telemetry import Meter

PAGE = (ROOT / "docs/operations.md").read_text()
# Of the bench: it is no setting for a fleet that does work.
NOT_FOR_OPERATORS = {"FAIRWAY_STUB_CLUSTERS"}


def test_every_setting_is_documented_and_every_documented_one_is_read() -> None:
    reader = (ROOT / "services/fairway/app/settings.py").read_text()
    read = {f"FAIRWAY_{name}" for name in re.findall(r'text\("(\w+)"', reader)}
    asked = {n for s in sources(".py") for n in re.findall(r'"(FAIRWAY_[A-Z_]+)"', s.text) if s.path.startswith("serv")}
    assert (read | asked) - NOT_FOR_OPERATORS == set(re.findall(r"FAIRWAY_[A-Z_]+", PAGE))


def test_every_metric_is_documented_and_every_documented_one_is_there() -> None:
    meter = Meter()
    meter.follow("queue", lambda: True)
    service(Catalog(), meter, [])
    shown = re.findall(r"^# TYPE (fairway_\w+) \w+$", generate_latest(meter.registry).decode(), re.MULTILINE)
    documented = set(re.findall(r"fairway_[a-z_]+", PAGE))
    assert documented == {name for name in shown if not name.endswith("_created")}


def test_every_exit_code_is_documented() -> None:
    codes = {value for name, value in vars(failure).items() if name.isupper() and isinstance(value, int)}
    listed = PAGE.split("## Exit codes")[1]
    assert {int(code) for code in re.findall(r"(?:^|· |\s)(\d+) [a-z]", listed)} == {0, *codes, 130}
