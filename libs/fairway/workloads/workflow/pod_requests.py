"""What one pod of an Argo template requests: its container, script or container set, with sidecars and init
containers, as the literal podSpecPatches of the workflow and of the template change them.

A patch names containers; one that the template has not (`wait` and `init` are Argo's own) counts as one more."""

from collections.abc import Sequence

from fairway.domain.resources import Resources
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import MOST_CONTAINERS, pod_requests, read_requests
from fairway.workloads.workflow.pod_spec_patch import patched

_MAIN = ("container", "script")
_PARTS = ("requests", "limits")


def template_requests(template: Field, patches: Sequence[Field]) -> Resources:
    """`patches` in the order in which Argo applies them."""
    changes = patched(patches)
    own = [("main", template[name]["resources"]) for name in _MAIN if template[name].given]
    for listed in (template["containerSet"]["containers"], template["sidecars"]):
        own += [(one["name"].text(), one["resources"]) for one in listed.items(MOST_CONTAINERS)]
    running = [read_requests(_changed(found, changes.pop(("containers", name), ()))) for name, found in own]
    inits: list[tuple[Resources, bool]] = []
    for one in template["initContainers"].items(MOST_CONTAINERS):
        resources = _changed(one["resources"], changes.pop(("initContainers", one["name"].text()), ()))
        inits.append((read_requests(resources), one["restartPolicy"].value == "Always"))
    for (listed_in, _), more in changes.items():
        added = read_requests(_changed(Field(None, template.problems), more))
        if listed_in == "containers":
            running.append(added)
        else:
            inits.append((added, False))
    return pod_requests(running, inits)


def _changed(resources: Field, changes: Sequence[Field]) -> Field:
    """Resources of a container after a strategic merge of each change."""
    if not changes:
        return resources
    last = changes[-1]
    made = {}
    for part in _PARTS:
        amounts = {key: value for one in (resources, *changes) for key, value in one[part].mapping().items()}
        made[part] = amounts or None
    return Field(made, last.problems, last.up, last.key)
