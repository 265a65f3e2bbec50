"""TenantProfile objects (fairway.io/v1alpha1, cluster-scoped): who may name which accounts, classes, queues, quota
leaves, clusters, schedulers, runtime classes and tolerations, and at which level of the Pod Security Standards."""

from typing import Any

from fairway.domain.tenancy import LEVELS, Profile
from fairway.workloads.fields import Field, Problems, shown
from fairway.workloads.names import read_name
from fairway.workloads.node_rules import read_tolerations

API_VERSION, KIND = "fairway.io/v1alpha1", "TenantProfile"


def read_tenant_profile(manifest: dict[str, Any]) -> Profile:
    """Raises Refused with every reason found."""
    problems = Problems()
    root = Field(manifest, problems)
    if root["apiVersion"].value != API_VERSION or root["kind"].value != KIND:
        root["kind"].wrong("is not a TenantProfile", f"use kind: {KIND} of apiVersion: {API_VERSION}")
    spec = root["spec"]
    level = spec["podSecurity"].text()
    if level and level not in LEVELS:
        spec["podSecurity"].wrong(f"is {shown(level)}", f"use {', '.join(LEVELS)}")
    profile = Profile(
        name=read_name(root["metadata"]["name"]),
        namespaces=spec["namespaces"].texts(),
        service_accounts=spec["serviceAccounts"].texts(),
        priority_classes=spec["priorityClasses"].texts(),
        queues=spec["queues"].texts(),
        quota_leaves=spec["quotaLeaves"].texts(),
        clusters=spec["clusters"].texts(),
        schedulers=spec["schedulers"].texts(),
        runtime_classes=spec["runtimeClasses"].texts(),
        tolerations=read_tolerations(spec["tolerations"]),
        pod_security=level,
        tokens=spec["automountServiceAccountToken"].flag(),
    )
    problems.stop()
    return profile
