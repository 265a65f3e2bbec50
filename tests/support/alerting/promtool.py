"""promtool: what Prometheus itself makes of metrics, of alert rules, and of series under them."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from msgspec import Struct

from fairway.lab.kubereal.build import tools
from tests.support.alerting.rules import FILE

# In seconds, of series in tests.
Labels = Mapping[str, str]


class Expected(Struct, frozen=True):
    """Which alerts of a name fire at a time: the labels of each beside those of every alert."""

    alert: str
    at: str
    labels: tuple[dict[str, str], ...]


def promtool(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Built when it is asked for first."""
    program = tools(("prometheus",)).program("promtool")
    return subprocess.run([str(program), *words], input=given, capture_output=True, text=True, check=False)


def judged(folder: Path, series: Mapping[str, str], interval: str, expected: Sequence[Expected]) -> str:
    """What promtool finds wrong with the rules under these series: empty if what is expected fires, and nothing else
    of those names."""
    asked = [_expected(one) for one in expected]
    inputs = [{"series": name, "values": values} for name, values in series.items()]
    test = {"interval": interval, "input_series": inputs, "promql_expr_test": asked}
    path = folder / "alerts_test.yaml"
    path.write_text(yaml.safe_dump({"rule_files": [str(FILE)], "evaluation_interval": interval, "tests": [test]}))
    done = promtool("test", "rules", str(path))
    return "" if done.returncode == 0 else done.stdout + done.stderr


def _expected(one: Expected) -> dict[str, object]:
    """Of the labels that alerts of this name have in common nothing is asked."""
    firing = f'ALERTS{{alertname="{one.alert}",alertstate="firing"}}'
    names = sorted({name for labels in one.labels for name in labels})
    samples = [{"labels": _written(labels), "value": 1} for labels in one.labels]
    by = f"max by ({', '.join(names)}) ({firing})"
    return {"expr": by, "eval_time": one.at, "exp_samples": samples}


def _written(labels: Labels) -> str:
    return "{" + ", ".join(f'{name}="{value}"' for name, value in sorted(labels.items())) + "}"
