"""Settings: a field that nobody knows is refused by name."""

from typing import Any

import pytest

from fairway.workloads.crds import definitions
from fairway.workloads.settings.field_effects import unknown_fields
from fairway.workloads.settings.known_fields import KNOWN
from tests.spec.workloads.builders import refusal, with_at
from tests.spec.workloads.settings.cases import FULL, ORGANISATION, PROFILE, QUEUES, READ_BY, node, policy, queue, tree

Json = dict[str, Any]
MISSPELT: dict[str, tuple[Json, str]] = {
    "a max of the tree": (tree({"name": "a", "maxx": {"cpu": 4}}), "spec.root.children[0].maxx"),
    "deep in the tree": (
        tree(node("a", children=[{"name": "b", "namespace": ["x"]}])),
        "spec.root.children[0].children[0].namespace",
    ),
    "beside the root": ({**tree(), "spec": {"root": {"name": "root"}, "roots": {"name": "x"}}}, "spec.roots"),
    "an attribute of ours": (
        tree(node("a", attributes={"fairway.io/max-pendng": "3"})),
        "spec.root.children[0].attributes['fairway.io/max-pendng']",
    ),
    "an attribute where annotations are": (
        with_at(tree(), "metadata.annotations", {"fairway.io/allow-namespaces": "x"}),
        "metadata.annotations['fairway.io/allow-namespaces']",
    ),
    "the policy of a queue": (queue({"queuePolicey": "Block"}), "spec.queuePolicey"),
    "the spec of a queue": ({**queue({}), "sepc": {"queuePolicy": "Block"}}, "sepc"),
    "a spread": (
        policy(placement={"spreadConstraints": [{"maxGroup": 1}]}),
        "spec.placement.spreadConstraints[0].maxGroup",
    ),
    "the condition of a failover": (
        policy(failover={"application": {"decisionConditions": {"tolerationSecond": 5}}}),
        "spec.failover.application.decisionConditions.tolerationSecond",
    ),
    "a toleration of a cluster's taint": (
        policy(placement={"clusterTolerations": [{"key": "x", "operator": "Exists", "efect": "NoExecute"}]}),
        "spec.placement.clusterTolerations[0].efect",
    ),
    "a policy's own head": ({**policy(), "placement": {"clusterAffinity": {}}}, "placement"),
    "a profile's own head": ({**PROFILE, "clusters": ["c1"]}, "clusters"),
}


@pytest.mark.parametrize(("manifest", "field"), MISSPELT.values(), ids=list(MISSPELT))
def test_what_nobody_knows_is_refused_with_what_is_known_there(manifest: Json, field: str) -> None:
    (reason,) = unknown_fields(manifest)
    assert (reason.field, reason.text) == (field, "is not a known field")
    assert "known: " in reason.remedy


# Those that a reader has always refused itself.
STRICT: dict[str, tuple[Json, str]] = {
    "a policy": (policy(placement={"clusterAfinity": {"clusterNames": ["c1"]}}), "spec.placement.clusterAfinity"),
    "a profile": ({**PROFILE, "spec": {**PROFILE["spec"], "cluster": ["c1"]}}, "spec.cluster"),
}


@pytest.mark.parametrize(("manifest", "field"), STRICT.values(), ids=list(STRICT))
def test_what_decides_where_a_job_runs_is_refused_by_the_reader_as_well(manifest: Json, field: str) -> None:
    assert field in refusal(lambda: READ_BY[manifest["kind"]](manifest))


GOOD = [FULL, ORGANISATION, PROFILE, *(one for one, _ in QUEUES)]


@pytest.mark.parametrize("manifest", GOOD, ids=lambda one: str(one["kind"]))
def test_what_the_readers_take_is_known(manifest: Json) -> None:
    written = {
        **manifest,
        "status": {"conditions": []},
        "metadata": {**manifest["metadata"], "uid": "u", "labels": {"a": "b"}},
    }
    assert unknown_fields(written) == ()


def test_an_unknown_field_that_asks_for_nothing_is_passed_over() -> None:
    assert unknown_fields(policy(newField=None, another={}, third=[], fourth=False)) == ()


def _properties(schema: Json, path: str = "") -> list[str]:
    """The fields that a definition writes out, in the form of paths; a tree's nodes once."""
    found = []
    for key, one in schema.get("properties", {}).items():
        found.append(f"{path}{key}")
        inner = one.get("items", one)
        if key != "children":
            found += _properties(inner, f"{path}{key}.")
    return found


def _known(path: str, fields: Any) -> bool:
    for key in path.split("."):
        if not isinstance(fields, dict):
            return True
        if key not in fields:
            return False
        fields = fields[key]
    return True


def test_every_field_that_our_definitions_write_out_is_in_the_tables() -> None:
    for crd in definitions().values():
        version = crd["spec"]["versions"][0]
        kind = f"{crd['spec']['names']['kind']}.{crd['spec']['group']}/{version['name']}"
        if kind in KNOWN:
            schema = version["schema"]["openAPIV3Schema"]
            assert [path for path in _properties(schema) if not _known(path, KNOWN[kind])] == []
