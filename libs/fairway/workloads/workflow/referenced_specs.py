"""The objects that an Argo workflow refers to: WorkflowTemplates of its own namespace, and ClusterWorkflowTemplates."""

import msgspec

from fairway.wire.reasons import Code
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.names import is_name
from fairway.workloads.reading.parse import LARGEST_TEXT, too_deep
from fairway.workloads.references import MOST_REFERENCES, Find, Json, Reference, not_there

WORKFLOW_TEMPLATE = "WorkflowTemplate.argoproj.io/v1alpha1"
CLUSTER_WORKFLOW_TEMPLATE = "ClusterWorkflowTemplate.argoproj.io/v1alpha1"


class ReferencedSpecs:
    """The objects that a workflow refers to. `seen` are those that were asked for, with the specs of those that are
    there; how much they may be together is asked before they are read."""

    def __init__(self, namespace: str, find: Find) -> None:
        self._find = find
        self._namespace = namespace
        self._bytes = 0
        self.seen: dict[Reference, Json | None] = {}

    def of(self, named: Field, place: Field) -> tuple[Reference, Json] | None:
        """Of the object that `named` names; what is wrong with it is noted at `place`, a field of the workflow."""
        name = named["name"].value
        wide = named["clusterScope"].value or False
        if isinstance(name, str) and "{{" in name:
            place.wrong(f"names the template {shown(name)} only at run time", "write the name itself")
            return None
        if not isinstance(name, str) or not is_name(name) or not isinstance(wide, bool):
            place.wrong(f"names the template {shown(name)}, which is no name", "name an object")
            return None
        kind = CLUSTER_WORKFLOW_TEMPLATE if wide else WORKFLOW_TEMPLATE
        reference = Reference(kind, "" if wide else self._namespace, name)
        if reference not in self.seen:
            if len(self.seen) >= MOST_REFERENCES:
                text = f"is one of more than {MOST_REFERENCES} objects with templates"
                place.wrong(text, "put templates together in fewer objects", Code.TOO_LARGE)
                return None
            self.seen[reference] = self._read(reference, place)
        spec = self.seen[reference]
        return (reference, spec) if spec is not None else None

    def _read(self, reference: Reference, place: Field) -> Json | None:
        found = self._find(reference)
        if found is None:
            not_there(place, reference)
            return None
        self._bytes += len(found.spec)
        if self._bytes > LARGEST_TEXT or too_deep(found.spec):
            text = (
                f"leads to {reference.words}, which is nested too deep, or with others more than {LARGEST_TEXT} bytes"
            )
            place.wrong(text, "make it smaller", Code.TOO_LARGE)
            return None
        spec = msgspec.json.decode(found.spec)
        return spec if isinstance(spec, dict) else {}
