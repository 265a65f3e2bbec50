"""Every alert fires when it should and not otherwise, as Prometheus evaluates it; metrics keep to its conventions."""

from pathlib import Path

import pytest
from prometheus_client import generate_latest

from fairway.runtime.metrics import Meter
from fairway.runtime.metrics.accumulators import OF_JOBS, Durations, Sample
from fairway.runtime.metrics.families import FAMILIES, HISTOGRAM
from tests.kubernetes.alerts.cases import CASES
from tests.support.alerting.promtool import Expected, judged, promtool
from tests.support.alerting.rules import ALERTS, FILE


def test_prometheus_accepts_the_rules() -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", str(FILE))
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_has_nothing_to_say_about_names_and_kinds_of_metrics() -> None:
    meter = Meter()
    meter.follow("queue", lambda: True)
    meter.sources.all.append(lambda: [_sample(one.name, one.kind, len(one.labels)) for one in FAMILIES])
    done = promtool("check", "metrics", given=generate_latest(meter.registry).decode())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def _sample(name: str, kind: str, labels: int) -> Sample:
    return name, ("a",) * labels, Durations(OF_JOBS) if kind == HISTOGRAM else 1.0


@pytest.mark.parametrize("name", CASES)
def test_an_alert_when(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    assert judged(tmp_path, case.series, "1m", [Expected(case.alert, f"{case.at}m", case.fires)]) == ""


@pytest.mark.parametrize("alert", ALERTS)
def test_each_alert_is_seen_to_fire_and_not_to(alert: str) -> None:
    outcomes = {bool(case.fires) for case in CASES.values() if case.alert == alert}
    assert outcomes == {True, False}


def test_what_is_not_as_expected_is_found(tmp_path: Path) -> None:
    case = CASES["evictions are frozen"]
    assert "FAILED" in judged(tmp_path, case.series, "1m", [Expected(case.alert, "1m", ())])
    assert "FAILED" in judged(tmp_path, case.series, "1m", [Expected(case.alert, "0m", ({},))])
