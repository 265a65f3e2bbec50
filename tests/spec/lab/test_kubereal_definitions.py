"""Definitions of kinds, slimmed: what an API server and an operator rely on stays."""

from typing import Any

from fairway.lab.kubereal.sources.slim_definitions import slim

POD_SPEC = {
    "type": "object",
    "description": "a pod",
    "properties": {"containers": {"type": "array", "items": {"type": "object"}}, "nodeName": {"type": "string"}},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "A job.",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["mode"],
            "properties": {
                "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast", "description": "How."},
                "description": {"type": "string", "description": "a field of that name"},
                "roles": {"type": "array", "x-kubernetes-list-type": "map", "items": {"properties": {"pod": POD_SPEC}}},
                "byName": {"type": "object", "additionalProperties": POD_SPEC},
            },
        }
    },
}
VERSION = {"name": "v1", "served": True, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": SCHEMA}}
CRD = {"kind": "CustomResourceDefinition", "spec": {"versions": [VERSION]}, "status": {"conditions": []}}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _spec() -> dict[str, Any]:
    (version,) = slim(CRD)["spec"]["versions"]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return found


def test_every_pod_spec_is_left_open_wherever_it_stands() -> None:
    assert _spec()["properties"]["roles"]["items"]["properties"]["pod"] == OPEN
    assert _spec()["properties"]["byName"]["additionalProperties"] == OPEN


def test_defaults_enums_required_fields_and_list_keys_stay() -> None:
    assert _spec()["properties"]["mode"] == {"type": "string", "enum": ["fast", "slow"], "default": "fast"}
    assert _spec()["required"] == ["mode"]
    assert _spec()["properties"]["roles"]["x-kubernetes-list-type"] == "map"


def test_descriptions_go_but_a_field_called_description_stays() -> None:
    assert _spec()["properties"]["description"] == {"type": "string"}


def test_subresources_stay_and_what_another_server_said_of_it_goes() -> None:
    made = slim(CRD)
    assert made["spec"]["versions"][0]["subresources"] == {"status": {}}
    assert "status" not in made
    assert "status" in CRD, "what was given is not changed"
