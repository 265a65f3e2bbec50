"""docs/operations.md names every setting, metric and exit code that the code has, and no others; what
docs/joining-clusters.md tells a reader to type is there."""

import re

from prometheus_client import generate_latest
from typer.main import get_command

from fairway.cli.main import app
from fairway.client import failure
from fairway.queue.service import service
from fairway.runtime.metrics import Meter
from fairway.runtime.views.settings import Catalog
from tests.tidy.source import ROOT, sources

PAGE = (ROOT / "docs/operations.md").read_text()
JOINING = (ROOT / "docs/joining-clusters.md").read_text()


def test_every_setting_is_documented_and_every_documented_one_is_read() -> None:
    reader = (ROOT / "services/fairway/process/settings.py").read_text()
    read = {f"FAIRWAY_{name}" for name in re.findall(r'text\("(\w+)"', reader)}
    asked = {n for s in sources(".py") for n in re.findall(r'"(FAIRWAY_[A-Z_]+)"', s.text) if s.path.startswith("serv")}
    assert read | asked == set(re.findall(r"FAIRWAY_[A-Z_]+", PAGE))


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


def test_joining_names_no_setting_that_is_not_documented_and_no_file_that_is_not_there() -> None:
    passwords = set(re.findall(r"\$(FAIRWAY_[A-Z_]+)", (ROOT / "deploy/nats/members.conf").read_text()))
    compose = set(re.findall(r"\$\{(FAIRWAY_[A-Z_]+)", (ROOT / "docker-compose.yml").read_text()))
    documented = passwords | compose | set(re.findall(r"FAIRWAY_[A-Z_]+", PAGE))
    assert set(re.findall(r"FAIRWAY_[A-Z_]*[A-Z]", JOINING)) <= documented
    named = set(re.findall(r"\bdeploy/[\w./-]*\w", JOINING))
    assert {"deploy/hub/kubeconfig.sh", "deploy/local/nats.conf", "deploy/examples/first/job.yaml"} <= named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_option_that_joining_tells_to_type_is_one_of_the_command() -> None:
    typed = re.findall(r"fairway (join|leave)\b([^`\n|]*)", JOINING)
    assert len(typed) > 8
    commands = vars(get_command(app))["commands"]
    for command, words in typed:
        known = {option for param in commands[command].params for option in param.opts}
        assert set(re.findall(r"--[a-z-]+", words)) <= known, words
