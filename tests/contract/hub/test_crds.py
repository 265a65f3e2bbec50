"""deploy/crds says what the code says, and the definitions have the shape that a hub needs."""

from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from fairway.cli.crds import pages
from fairway.cli.main import app
from fairway.workloads.crds import definitions
from fairway.workloads.hub.objects import SETTINGS
from tests.paths import ROOT

CRDS = ROOT / "deploy" / "crds"
PAGES = pages()
Json = dict[str, Any]


@pytest.mark.parametrize("name", PAGES)
def test_the_file_is_what_the_code_says(name: str) -> None:
    there = (CRDS / name).read_text("utf-8") if (CRDS / name).exists() else ""
    assert there == PAGES[name], f"deploy/crds/{name} is out of date; write it anew with: make schemas"


def test_no_definition_of_a_kind_that_is_no_more_lies_about() -> None:
    assert {path.name for path in CRDS.iterdir()} == set(PAGES)


def test_every_setting_that_kubernetes_does_not_have_is_defined() -> None:
    defined = {
        f"{one['spec']['names']['kind']}.{one['spec']['group']}/{one['spec']['versions'][0]['name']}"
        for one in definitions().values()
    }
    assert defined == {*SETTINGS, "ResourceBinding.work.karmada.io/v1alpha2"} - {"PriorityClass.scheduling.k8s.io/v1"}


@pytest.mark.parametrize("name", definitions())
def test_settings_have_a_status_of_their_own_and_a_binding_is_written_in_one_go(name: str) -> None:
    version = definitions()[name]["spec"]["versions"][0]
    assert ("subresources" in version) is not name.startswith("resourcebindings.")
    assert "Age" in {column["name"] for column in version["additionalPrinterColumns"]}


def rules(schema: Any, path: str = "") -> list[tuple[str, Json]]:
    """Every rule below a schema, with its place."""
    if isinstance(schema, list):
        return [found for one in schema for found in rules(one, path)]
    if not isinstance(schema, dict):
        return []
    here = [(path, one) for one in schema.get("x-kubernetes-validations", ())]
    return here + [found for key, one in schema.items() for found in rules(one, f"{path}/{key}")]


def test_every_rule_says_what_is_wrong_and_what_to_do() -> None:
    found = [one for crd in definitions().values() for one in rules(crd)]
    assert len(found) > 50
    assert [(path, one["message"]) for path, one in found if one["message"].count("; ") < 1] == []


def test_the_command_prints_what_kubectl_can_apply() -> None:
    said = CliRunner().invoke(app, ["crds"])
    assert said.exit_code == 0
    assert [one["metadata"]["name"] for one in yaml.safe_load_all(said.stdout)] == list(definitions())
