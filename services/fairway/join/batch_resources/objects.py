"""The PriorityClass of pods on Koordinator's batch resources, and the ClusterColocationProfile by which Koordinator's
webhook converts those pods; and what of either, if somebody else made it, would do harm. Values only.

The profile sets the class on the pods, in the member: a copy names no class that may not be there.
"""

from typing import Any

import yaml

from fairway.domain.batch_resources import PRIORITY, PROFILE, PROFILE_KIND
from fairway.workloads.member_copy import BATCH_LABEL
from fairway.workloads.reading.batch_marks import BEST_EFFORT, CLASS_LABEL, KOORD_BATCH

Json = dict[str, Any]

CLASS_KIND = "PriorityClass.scheduling.k8s.io/v1"
_LABELS = {"app.kubernetes.io/name": "fairway", "app.kubernetes.io/component": "batch-resources"}
# Of the class, where nobody names another.
NAME = PROFILE
POD_LABELS = {BATCH_LABEL: "true"}
# Koordinator 1.6: apis/extension/priority.go, cluster_colocation_profile.go.
LEAST = 5000
MOST = 5999
_PRIORITY_LABELS = {CLASS_LABEL: KOORD_BATCH}
_LEAVES_RESOURCES = "config.koordinator.sh/skip-update-resources"
_NEVER = "Never"


def priority_class() -> Json:
    api_version, kind = _head(CLASS_KIND)
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": NAME, "labels": dict(_LABELS)},
        "value": PRIORITY,
        "preemptionPolicy": _NEVER,
        "globalDefault": False,
        "description": "Pods of Fairway's jobs on batch resources: they give way to all others, and drive out none.",
    }


def profile(class_name: str) -> Json:
    """`class_name` has to be there before it: Koordinator refuses the pods of a profile whose class is missing."""
    api_version, kind = _head(PROFILE_KIND)
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": PROFILE, "labels": dict(_LABELS)},
        "spec": {
            "selector": {"matchLabels": dict(POD_LABELS)},
            "qosClass": BEST_EFFORT,
            "priorityClassName": class_name,
            "labels": dict(_PRIORITY_LABELS),
        },
    }


def objects(class_name: str = "") -> tuple[Json, ...]:
    """In the order in which they are made. A class of another name is somebody's who made it before."""
    chosen = class_name or NAME
    return (*((priority_class(),) if chosen == NAME else ()), profile(chosen))


def page(class_name: str = "") -> str:
    """As YAML, after the rights of the account."""
    head = (
        f"# For pods on batch resources, only where {PROFILE_KIND} is served.\n"
        "# Whoever joins the cluster makes them; Fairway's account may not change them.\n"
    )
    return head + "".join("---\n" + yaml.safe_dump(one, sort_keys=False) for one in objects(class_name))


def is_ours(found: Json) -> bool:
    """Whether a join made it, and so may make it anew."""
    labels = found["metadata"].get("labels") or {}
    return all(labels.get(key) == text for key, text in _LABELS.items())


def anew(found: Json, wanted: Json) -> bool:
    """A class keeps its value and its policy for as long as it lives: one that says other ones has to go first."""
    same = ("value", "preemptionPolicy")
    return any(found.get(field) != wanted.get(field) for field in same)


def class_fault(found: Json) -> str:
    """What about a PriorityClass keeps pods on batch resources from giving way; empty where nothing does."""
    value = found.get("value") or 0
    if not (value < 0 or LEAST <= value <= MOST):
        return f"its value {value} is neither negative nor within Koordinator's range for batch, {LEAST} to {MOST}"
    if found.get("preemptionPolicy") != _NEVER:
        return f"its pods may drive out others (preemptionPolicy is not {_NEVER})"
    if found.get("globalDefault"):
        return "it is the class of every pod that names none (globalDefault), so that none would come before it"
    return ""


def profile_fault(found: Json, class_name: str) -> str:
    """What about a profile keeps it from converting the pods of copies, all of them and no others; empty where nothing
    does."""
    spec: Json = found.get("spec") or {}
    chosen: Json = spec.get("selector") or {}
    label = ", ".join(f"{key}: {text}" for key, text in POD_LABELS.items())
    if chosen.get("matchLabels") != POD_LABELS or chosen.get("matchExpressions"):
        return f"it selects other pods than those with the label {label}"
    if any((spec.get("namespaceSelector") or {}).values()):
        return "it leaves pods out by their namespaces (namespaceSelector)"
    if str(spec.get("probability", "100%")) not in ("100", "100%"):
        return f"it leaves pods out by chance (probability {spec['probability']})"
    if spec.get("qosClass") != BEST_EFFORT:
        return f"its qosClass is not {BEST_EFFORT}"
    if spec.get("priorityClassName") != class_name:
        return f"its priorityClassName is not {class_name}"
    if any((spec.get("labels") or {}).get(key, text) != text for key, text in _PRIORITY_LABELS.items()):
        return f"it gives pods another label {CLASS_LABEL} than {KOORD_BATCH}"
    if _LEAVES_RESOURCES in (found["metadata"].get("annotations") or {}):
        return f"its annotation {_LEAVES_RESOURCES} leaves pods on cpu and memory"
    return ""


def _head(key: str) -> tuple[str, str]:
    kind, _, api_version = key.partition(".")
    return api_version, kind
