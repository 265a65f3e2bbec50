"""Argo workflows that refer to templates, and these templates, by the way in which the one finds the other."""

from collections.abc import Mapping
from typing import Any

from fairway.workloads.references import Find, Reference, Referenced, referenced
from fairway.workloads.workflow.referenced_specs import CLUSTER_WORKFLOW_TEMPLATE, WORKFLOW_TEMPLATE

Json = dict[str, Any]
TENANT = "team-a"
LIB = Reference(WORKFLOW_TEMPLATE, TENANT, "lib")
WIDE = Reference(CLUSTER_WORKFLOW_TEMPLATE, "", "wide")


def container(name: str, **fields: Any) -> Json:
    return {"name": name, "container": {"image": "busybox", "command": ["true"]}, **fields}


def step(template: str = "", **fields: Any) -> Json:
    return {"name": fields.pop("name", "one"), **({"template": template} if template else {}), **fields}


def steps(name: str, *those: Json, **fields: Any) -> Json:
    return {"name": name, "steps": [[one] for one in those], **fields}


def ref(lib: str, template: str, wide: bool = False) -> Json:
    return {"name": lib, "template": template, **({"clusterScope": True} if wide else {})}


def workflow(*templates: Any, name: str = "train", **spec: Any) -> Json:
    metadata = {"name": name, "namespace": TENANT}
    made = {"entrypoint": "main", **({"templates": list(templates)} if templates else {}), **spec}
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": metadata, "spec": made}


def template(reference: Reference, *templates: Any, **spec: Any) -> Json:
    kind, namespace, name = reference
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}
    if namespace:
        metadata["namespace"] = namespace
    made = {**({"templates": list(templates)} if templates else {}), **spec}
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": kind.partition(".")[0], "metadata": metadata, "spec": made}


def finds(*objects: Json) -> Find:
    there: Mapping[Reference, Referenced] = {
        found.reference: found for one in objects for found in (referenced(f"{one['kind']}.{one['apiVersion']}", one),)
    }
    return there.get
