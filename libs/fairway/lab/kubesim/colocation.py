"""What Koordinator's pod webhook does to pods that a ClusterColocationProfile selects: cpu and memory become batch-cpu
and batch-memory (pkg/webhook/pod/mutating/cluster_colocation_profile.go of Koordinator 1.6).

Written apart from fairway.domain.batch_resources on purpose: a member counts for itself, so a mistake there shows here.
"""

from collections.abc import Mapping

from fairway.domain.resources import parse_quantity
from fairway.lab.kubesim.api.errors import Json

# What `fairway join` has a member's profile select.
_SELECTED = {"fairway.io/batch-resources": "true"}
# As a join makes it, in short.
PROFILE: Json = {
    "apiVersion": "config.koordinator.sh/v1alpha1",
    "kind": "ClusterColocationProfile",
    "metadata": {"name": "fairway-batch"},
    "spec": {"selector": {"matchLabels": _SELECTED}, "qosClass": "BE"},
}
_PARTS = ("requests", "limits")
_LISTS = ("initContainers", "containers")


def listed(allocatable: Mapping[str, str]) -> bool:
    """Whether a node has any."""
    return "kubernetes.io/batch-cpu" in allocatable


def admit(pod: Json) -> None:
    """Changes a pod that is selected, in place. Raises ValueError for a quantity that is none."""
    if not _SELECTED.items() <= (pod["metadata"].get("labels") or {}).items():
        return
    spec = pod.get("spec") or {}
    for container in [one for name in _LISTS for one in spec.get(name) or ()]:
        resources = container.get("resources") or {}
        moved = {part: _moved(resources[part]) for part in _PARTS if resources.get(part)}
        container["resources"] = {**resources, **moved}
    if spec.get("overhead"):
        spec["overhead"] = _moved(spec["overhead"])


def _moved(amounts: Json) -> Json:
    found = dict(amounts)
    if (cpu := found.pop("cpu", None)) is not None:
        found["kubernetes.io/batch-cpu"] = str(parse_quantity("cpu", cpu))
    if (memory := found.pop("memory", None)) is not None:
        found["kubernetes.io/batch-memory"] = memory
    return found
