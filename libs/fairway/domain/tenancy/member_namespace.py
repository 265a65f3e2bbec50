"""A tenant's namespace in a member: how Fairway makes it, and whether one that is there may be used. Pure."""

from collections.abc import Mapping

from fairway.domain.tenancy.profile import BASELINE, LEVELS, RESTRICTED, TENANT_LABEL, reserved
from fairway.wire.reasons import Code

# That of Kubernetes itself: its API server refuses the pods that break the level. Not `warn` and `audit` besides: they
# are for people who apply by hand, and two labels of one meaning may come to differ.
LEVEL_LABEL = "pod-security.kubernetes.io/enforce"
# On one that was there before, and that an administrator gave to its tenant (`fairway join --adopt-namespaces`).
ADOPTED_LABEL = "fairway.io/adopted"


def made(namespace: str, level: str) -> dict[str, str]:
    """The labels of one that Fairway makes; no level means baseline."""
    return {TENANT_LABEL: namespace, LEVEL_LABEL: level or BASELINE}


def is_tenants(namespace: str, labels: Mapping[str, str]) -> bool:
    return labels.get(TENANT_LABEL) == namespace


def above(level: str, labels: Mapping[str, str]) -> bool:
    """Whether the namespace would have to be raised for pods of this level. A namespace without a level bounds no pods,
    and one that names none that is known is bounded as by the strictest, as Kubernetes does it."""
    there = labels.get(LEVEL_LABEL)
    if there is None:
        return False
    return LEVELS.index(level or BASELINE) > LEVELS.index(there if there in LEVELS else RESTRICTED)


def raised(labels: Mapping[str, str], level: str) -> dict[str, str]:
    return {**labels, LEVEL_LABEL: level or BASELINE}


def refusal(cluster: str, namespace: str, labels: Mapping[str, str] | None) -> tuple[Code, str] | None:
    """Why no job may be in this namespace; `labels` are None of one that is not there."""
    if reserved(namespace):
        return Code.RESERVED_NAMESPACE, f"namespace {namespace} is the system's in {cluster}"
    if labels is None or is_tenants(namespace, labels):
        return None
    text = f"namespace {namespace} of {cluster} is not Fairway's: it has no label {TENANT_LABEL}: {namespace}"
    return Code.FOREIGN_NAMESPACE, text


def remedy(code: str, cluster: str, namespace: str) -> str:
    """What to do about a refusal."""
    if code == Code.RESERVED_NAMESPACE:
        return "use a namespace of your own"
    return (
        f"let an administrator of {cluster} give it to its tenant: `fairway join {cluster} --renew --kubeconfig ADMIN "
        f"--adopt-namespaces {namespace}`; or use another namespace"
    )
