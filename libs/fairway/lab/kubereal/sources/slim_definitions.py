"""Definitions of kinds for clusters on a laptop: what their authors ship, without what costs memory and time.

Every embedded pod spec is left open, and descriptions go. Defaults, enums, list keys, subresources and printer columns
stay. A third of the memory of the API server, and of the time to install.
"""

import os
from pathlib import Path
from typing import Any

import msgspec
import yaml

Json = dict[str, Any]

_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
# Raise it when `slim` changes, so that what was kept is not taken for its result.
_VERSION = 1


def slimmed(path: Path) -> Json:
    """The definition of this file. Reading YAML of a megabyte takes a second: the result is kept beside it as JSON."""
    kept = path.with_suffix(f".slim{_VERSION}.json")
    if kept.exists():
        found: Json = msgspec.json.decode(kept.read_bytes())
        return found
    documents = yaml.load_all(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    crd = slim(next(one for one in documents if one and one.get("kind") == "CustomResourceDefinition"))
    draft = kept.with_suffix(f".{os.getpid()}")
    draft.write_bytes(msgspec.json.encode(crd))
    draft.rename(kept)
    return crd


def slim(crd: Json) -> Json:
    versions = []
    for version in crd["spec"]["versions"]:
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        versions.append({**version, "schema": {"openAPIV3Schema": _schema(schema)}} if schema else version)
    made = {key: value for key, value in crd.items() if key != "status"}
    return {**made, "spec": {**crd["spec"], "versions": versions}}


def _schema(node: Any) -> Any:
    """A copy of a schema node; open where it is a pod's spec."""
    if not isinstance(node, dict):
        return node
    properties = node.get("properties") or {}
    if (properties.get("containers") or {}).get("type") == "array":
        return dict(_OPEN)
    made = {key: value for key, value in node.items() if not (key == "description" and isinstance(value, str))}
    if properties:
        made["properties"] = {name: _schema(one) for name, one in properties.items()}
    for key in ("items", "additionalProperties"):
        if key in made:
            made[key] = _schema(made[key])
    return made
