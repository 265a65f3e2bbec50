"""TenantProfile objects (fairway.io/v1alpha1, cluster-scoped): who may name which accounts, classes, queues, quota
leaves, clusters, schedulers, runtime classes and tolerations, and at which level of the Pod Security Standards."""

from typing import Any

from fairway.domain.tenancy.profile import LEVELS, Profile
from fairway.workloads.reading.fields import Field, read_root, shown
from fairway.workloads.reading.names import is_namespace, read_name
from fairway.workloads.reading.node_rules import read_tolerations
from fairway.workloads.settings.placement import only

API_VERSION = "fairway.io/v1alpha1"
KIND = "TenantProfile"
NAMESPACES = "namespaces"
LEVEL = "podSecurity"
TOLERATIONS = "tolerations"
TOKENS = "automountServiceAccountToken"
# Lists of names.
NAMES = ("serviceAccounts", "priorityClasses", "queues", "quotaLeaves", "clusters", "schedulers", "runtimeClasses")
# The CRD has the same bounds; a name is at most as long as a Kubernetes name (a leaf's path as a tree is deep).
MOST_NAMESPACES = 1_000
MOST_NAMES = 256
LONGEST_NAME = 1_300


def read_tenant_profile(manifest: dict[str, Any]) -> Profile:
    """Raises Refused with every reason found."""
    root = read_root(manifest, API_VERSION, KIND)
    spec = root["spec"]
    # What bounds a namespace must not be left out by a typing error.
    only(spec, NAMESPACES, *NAMES, LEVEL, TOLERATIONS, TOKENS)
    level = spec[LEVEL].text()
    if level and level not in LEVELS:
        spec[LEVEL].wrong(f"is {shown(level)}", f"use {', '.join(LEVELS)}")
    profile = Profile(
        name=read_name(root["metadata"]["name"]),
        namespaces=_namespaces(spec[NAMESPACES]),
        service_accounts=_names(spec["serviceAccounts"]),
        priority_classes=_names(spec["priorityClasses"]),
        queues=_names(spec["queues"]),
        quota_leaves=_names(spec["quotaLeaves"]),
        clusters=_names(spec["clusters"]),
        schedulers=_names(spec["schedulers"]),
        runtime_classes=_names(spec["runtimeClasses"]),
        tolerations=read_tolerations(spec[TOLERATIONS]),
        pod_security=level,
        tokens=spec[TOKENS].flag(),
    )
    root.problems.stop()
    return profile


def _namespaces(field: Field) -> tuple[str, ...]:
    if not field.value:
        field.wrong("is empty, so the profile is of nobody", "name the namespaces that it is for")
    found = []
    for entry in field.items(MOST_NAMESPACES):
        found.append(entry.text())
        if not is_namespace(found[-1]):
            entry.wrong(f"{shown(entry.value)} is not a namespace name", "correct or remove it")
    return tuple(found)


def _names(field: Field) -> tuple[str, ...]:
    found = []
    for entry in field.items(MOST_NAMES):
        found.append(entry.text())
        if not 0 < len(found[-1]) <= LONGEST_NAME:
            entry.wrong(f"is {shown(entry.value)}, not a name", "write the name of one object")
    return tuple(found)
