"""Workflows and templates as objects of the hub, and what is said of them."""

from typing import Any

import msgspec

from fairway.workloads.hub.objects import HubObject, hub_object
from fairway.workloads.references import Reference
from tests.cases.workflow_templates import LIB, Json, container, ref, step, steps, template, workflow
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.hub_objects import policy

ALL = policy("all", {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"})


def objects(one: Json) -> HubObject:
    metadata = {"uid": f"u-{one['kind']}-{one['metadata']['name']}", **one["metadata"]}
    return hub_object(f"{one['kind']}.{one['apiVersion']}", {**one, "metadata": metadata})


def lib(cpu: int = 1, reference: Reference = LIB, **spec: Any) -> HubObject:
    made = container("a")
    made["container"]["resources"] = {"requests": {"cpu": str(cpu)}}
    return objects(template(reference, made, **spec))


TRAIN = objects(workflow(steps("main", step(templateRef=ref("lib", "a")))))
WHOLE = objects(workflow(workflowTemplateRef={"name": "wide", "clusterScope": True}, entrypoint="a", name="whole"))


def cpus(said: list[Any]) -> list[str]:
    """What the pods of what was said request."""
    found = []
    for message in said:
        spec = msgspec.json.decode(message.manifest)["spec"]
        containers = [one["container"] for one in spec["templates"] if "container" in one]
        assert b"emplateRef" not in bytes(message.manifest)
        found += [one["resources"]["requests"]["cpu"] for one in containers]
    return found


def version(one: HubDriver, of: HubObject) -> str:
    return str(one.hub.objects[of.kind, of.namespace, of.name]["metadata"]["resourceVersion"])
