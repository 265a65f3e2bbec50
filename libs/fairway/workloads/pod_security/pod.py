"""One pod that a job makes, as its manifest describes it."""

from dataclasses import dataclass
from typing import Any

from fairway.workloads.fields import Field
from fairway.workloads.pod_security.view import View

_LISTS = ("initContainers", "containers", "ephemeralContainers")


@dataclass(frozen=True, slots=True)
class Pod:
    """`role` tells it from the other pods of its job. `needs_token`: what runs in it, or its operator, cannot do
    without the token of its service account. `shared` is what this pod has in common with others of its job, and what
    is looked at once."""

    role: str
    metadata: View
    spec: View
    needs_token: bool = False
    shared: "Pod | None" = None

    def plain(self) -> dict[str, Any]:
        """As its operator would make it, as plain data."""
        own: dict[str, Any] = {"metadata": self.metadata.plain() or {}, "spec": self.spec.plain() or {}}
        if self.shared is None:
            return own
        more = self.shared.plain()
        notes = {**(more["metadata"].get("annotations") or {}), **(own["metadata"].get("annotations") or {})}
        volumes = [*(more["spec"].get("volumes") or ()), *(own["spec"].get("volumes") or ())]
        own["metadata"] = {**own["metadata"], "annotations": notes}
        own["spec"] = {**more["spec"], **own["spec"], "volumes": volumes}
        return own


def of_template(role: str, template: Field, needs_token: bool = False, **moved: View) -> Pod:
    """The pod of a PodTemplateSpec; `moved` are fields of its spec that stand elsewhere."""
    return Pod(role, View(template["metadata"]), View(template["spec"], moved=moved), needs_token)


def containers(pod: Pod) -> list[View]:
    """Every container: those that start first, those that run, and those that are added later."""
    return [one for name in _LISTS if pod.spec.mentions(name) for one in pod.spec[name].items()]
