"""Every alert asks for metrics that are there, and has a page whose commands are there."""

import re
import shlex
from typing import Any

import pytest
from typer.main import get_command

from fairway.cli.main import app
from fairway.lab.documents import alerts
from tests.support.alerting import runbooks
from tests.support.alerting.rules import ALERTS, PAGES, RULES, named, series
from tests.tidy.source import ROOT

KNOWN = series()
RECORDED = {rule["record"] for rule in RULES if "record" in rule}
COMMANDS = [(name, command) for name, page in runbooks.pages().items() for command in runbooks.commands(page)]
_GREP = re.compile(r"grep -E '\^(fairway_.*?)'$")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("alert") or rule["record"])
def test_a_rule_names_only_metrics_that_the_code_has(rule: dict[str, Any]) -> None:
    asked = named(rule["expr"])
    assert asked
    assert asked - set(KNOWN) - RECORDED == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("alert") or rule["record"])
def test_a_rule_groups_and_picks_by_labels_that_its_metrics_have(rule: dict[str, Any]) -> None:
    labels = set().union(*(KNOWN.get(name, set()) for name in named(rule["expr"])))
    used = {one for words in re.findall(r"\b(?:by|on) \(([\w, ]+)\)", rule["expr"]) for one in words.split(", ")}
    picked = {one for words in re.findall(r"\{(.*?)\}", rule["expr"]) for one in re.findall(r"(\w+)=~?\"", words)}
    assert used | picked <= labels


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_how_grave_it_is_what_is_wrong_and_where_to_read_on(name: str) -> None:
    alert = ALERTS[name]
    assert alert["labels"]["severity"] in {"critical", "warning"}
    assert set(alert["annotations"]) == {"summary", "description", "runbook_url"}
    assert alert["annotations"]["runbook_url"] == f"docs/runbooks/{name}.md"
    shown = {one for text in alert["annotations"].values() for one in re.findall(r"\$labels\.(\w+)", text)}
    kept = {one for words in re.findall(r"\bby \(([\w, ]+)\)", alert["expr"]) for one in words.split(", ")}
    assert shown <= kept


def test_every_alert_has_a_page_and_every_page_an_alert() -> None:
    assert set(runbooks.pages()) == set(ALERTS)
    assert (PAGES / "README.md").read_text("utf-8") == alerts.page(ROOT), "run `make schemas`"


@pytest.mark.parametrize("name", ALERTS)
def test_a_page_says_what_it_means_what_to_run_and_what_the_answers_mean(name: str) -> None:
    page = runbooks.pages()[name]
    assert page.startswith(f"# {name}\n\n")
    assert runbooks.commands(page)
    assert re.search(r"^\| .* says \| cause \| what to do \|$", page, re.MULTILINE)


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=lambda one: one)
def test_a_command_of_a_page_is_there(page: str, command: str) -> None:
    first = shlex.split(command.split(" | ")[0])
    if first[0] in ("curl", "tail"):
        assert first[-1] in ("$METRICS/readyz", "$METRICS/metrics", "$LOG")
        return
    assert first[0] == "fairway"
    known: Any = get_command(app)
    for word in first[1:]:
        known = getattr(known, "commands", {}).get(word, known)
    assert known.name == first[-1] or first[1:2] == [known.name]
    assert {one for one in first if one.startswith("-")} <= {option for param in known.params for option in param.opts}


@pytest.mark.parametrize(
    ("page", "command"), [one for one in COMMANDS if "METRICS/metrics" in one[1]], ids=lambda one: one
)
def test_what_a_command_looks_for_in_the_metrics_is_there(page: str, command: str) -> None:
    (pattern,) = _GREP.findall(command)
    head, _, rest = pattern.partition("(")
    parts = re.split(r"\|(?![^(]*\))", rest.removesuffix(")")) if rest else [""]
    assert [one for one in parts if not any(re.match(f"{head}{one}", name) for name in KNOWN)] == []
