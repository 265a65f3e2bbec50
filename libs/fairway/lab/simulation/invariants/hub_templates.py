"""Workflows of the hub and their templates, by this simulation's own small idea of both: one step that names one."""

from typing import Any

from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.people.hub_templates import LIB, WIDE

Json = dict[str, Any]


def _step(spec: Any) -> Json:
    try:
        step = spec["templates"][0]["steps"][0][0]
    except (KeyError, IndexError, TypeError):
        return {}
    return step if isinstance(step, dict) else {}


def refers(found: StoredObject) -> bool:
    return "templateRef" in _step(found.obj.get("spec"))


def template_of(hub: SimulatedHub, found: StoredObject) -> Json | None:
    """The template that its step names; None: there is none."""
    reference = _step(found.obj["spec"])["templateRef"]
    wide = reference.get("clusterScope", False)
    lib = hub.stored(WIDE if wide else LIB, "" if wide else found.key.namespace, reference["name"])
    return lib.obj["spec"]["templates"][0] if lib is not None else None


def as_owner_wrote(spec: Json) -> Json:
    """A workflow that was written out, without what was copied."""
    (group,) = spec["templates"][0]["steps"]
    step = {key: value for key, value in group[0].items() if key not in ("template", "templateRef")}
    return {**spec, "templates": [{**spec["templates"][0], "steps": [[step]]}]}


def copied(spec: Json) -> Json:
    """The template that was copied, under the name that it has in its object."""
    (copy,) = spec["templates"][1:]
    assert copy["name"] == _step(spec)["template"], "it is the one that the step runs"
    return {**copy, "name": "work"}
