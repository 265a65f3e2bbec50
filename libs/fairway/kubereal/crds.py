"""Definitions of kinds for clusters on a laptop: what their authors ship, without what costs memory and time.

Every embedded pod spec is left open, as are nodes that say nothing but types; descriptions go. Defaults, enums, list
keys, subresources and printer columns stay. A third of the memory of the API server, and of the time to install.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import yaml

from fairway.kubereal.admin import Admin, Json, admin
from fairway.kubereal.build import Tools
from fairway.kubereal.plane import Plane
from fairway.workloads.registry import KINDS

_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
# Raise it when `slim` changes, so that what was kept is not taken for its result.
_VERSION = 1
# Fairway's own kinds (policies, queues, quotas), in a checkout.
_OWN = Path(__file__).parents[3] / "deploy" / "crds"


async def define(plane: Plane, operators: Iterable[str], tools: Tools, *, hub: bool = False) -> None:
    """Installs the kinds of these operators, and waits until the API serves them.

    The kinds of an operator `training-volcano` are those of the module `training`. A hub gets the kinds of jobs alone,
    and Fairway's own.
    """
    modules = sorted({name.partition("-")[0] for name in operators})
    found = [slimmed(path) for module in modules for path in tools.crds(module)]
    if hub:
        found = [crd for crd in found if _is_job(crd)]
        found += [crd for path in sorted(_OWN.glob("*.yaml")) for crd in _read(path)]
    async with admin(plane) as api:
        await install(api, found)


async def install(api: Admin, crds: list[Json]) -> None:
    """Returns when every one of them is Established."""
    names = {crd["metadata"]["name"] for crd in crds}
    await api.apply(crds)

    async def served() -> bool:
        there = await api.get(_PATH) or {}
        return names <= {one["metadata"]["name"] for one in there["items"] if _established(one)}

    await api.until(served, f"definitions of {', '.join(sorted(names))}")


def slimmed(path: Path) -> Json:
    """The definition of this file. Reading YAML of a megabyte takes a second: the result is kept beside it as JSON."""
    kept = path.with_suffix(f".slim{_VERSION}.json")
    if kept.exists():
        found: Json = msgspec.json.decode(kept.read_bytes())
        return found
    crd = slim(_read(path)[0])
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


def _read(path: Path) -> list[Json]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    documents = yaml.load_all(path.read_text(), loader)
    return [one for one in documents if one and one.get("kind") == "CustomResourceDefinition"]


def _is_job(crd: Json) -> bool:
    spec = crd["spec"]
    return any(f"{spec['names']['kind']}.{spec['group']}/{one['name']}" in KINDS for one in spec["versions"])


def _established(crd: Json) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)
