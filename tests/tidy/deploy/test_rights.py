"""The accounts on the hub, and what each may do there."""

from itertools import product

import yaml

from tests.tidy.source import ROOT

ACCOUNTS = {"fairway-hub", "fairway-gateway", "fairway-clusters"}


def _rights() -> dict[str, set[tuple[str, str, str]]]:
    """Of each account on the hub: group, resource and verb."""
    found = list(yaml.safe_load_all((ROOT / "deploy/hub/rights.yaml").read_text()))
    roles = {(one["kind"], one["metadata"]["name"]): one["rules"] for one in found if "rules" in one}
    rights: dict[str, set[tuple[str, str, str]]] = {}
    for one in found:
        for subject in one.get("subjects", []):
            for rule in roles[one["roleRef"]["kind"], one["roleRef"]["name"]]:
                each = product(rule["apiGroups"], rule["resources"], rule["verbs"])
                rights.setdefault(subject["name"], set()).update(each)
    return rights


def test_each_account_on_the_hub_has_what_its_processes_do_there_and_one_has_it_all() -> None:
    rights = _rights()
    assert set(rights) == {*ACCOUNTS, "fairway", "system:authenticated"}
    assert rights["fairway"] == set().union(*(rights[name] for name in ACCOUNTS))
    of = {name: {(resource, verb) for _, resource, verb in rights[name]} for name in ACCOUNTS}
    for whose, alone in {
        "fairway-hub": [
            ("jobs", "list"),
            ("jobs/status", "patch"),
            ("events", "create"),
            ("resourcebindings", "patch"),
            ("workflowtemplates", "watch"),
            ("clusterworkflowtemplates", "list"),
        ],
        "fairway-gateway": [("tokenreviews", "create"), ("queues", "create"), ("configmaps", "create")],
        "fairway-clusters": [("secrets", "list"), ("secrets", "get")],
    }.items():
        assert [{name for name in ACCOUNTS if right in of[name]} for right in alone] == [{whose}] * len(alone)
