"""What the jobs of one namespace of the hub may ask for: the sum of its TenantProfiles and its own labels. Pure."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import Toleration

PRIVILEGED = "privileged"
BASELINE = "baseline"
RESTRICTED = "restricted"
# From the strictest to the one that allows everything (the Pod Security Standards of Kubernetes).
LEVELS = (RESTRICTED, BASELINE, PRIVILEGED)
# On a namespace of the hub, which its tenant cannot edit. Ours counts before the one of Kubernetes.
POD_SECURITY_LABELS = ("fairway.io/pod-security", "pod-security.kubernetes.io/enforce")
# Likewise: whether its jobs may have values of secrets written out. Whatever else it says is taken for `deny`.
PLAIN_ENV_LABEL = "fairway.io/plain-env"
_PLAIN_ENV_ALLOWED = ("", "warn")
# All that the fleet needs to know of a namespace of the hub.
NAMESPACE_LABELS = (*POD_SECURITY_LABELS, PLAIN_ENV_LABEL)
# On a namespace of a member that Fairway made: whose jobs are in it.
TENANT_LABEL = "fairway.io/tenant"
# PriorityClasses of what a cluster itself runs on begin so; Kubernetes lets nobody else make any.
SYSTEM_CLASSES = "system-"
# Fairway's own namespace, in the hub and in members: nobody else makes anything there.
HOME = "fairway-system"
# Where no tenant's job may be, neither on the hub nor in a member.
_RESERVED_PREFIX = "kube-"
_RESERVED = frozenset({HOME})


class SystemNamespaces(Struct, frozen=True):
    """Of the hub: quota trees and queues are taken from those of `admin`; no job may be in a `reserved` one, nor in
    those that are the system's everywhere."""

    admin: frozenset[str] = frozenset({"kube-system", "kube-queue"})
    reserved: frozenset[str] = frozenset()

    def takes_no_job(self, namespace: str) -> bool:
        return reserved(namespace, self.reserved)


SYSTEM_NAMESPACES = SystemNamespaces()


class Profile(Struct, frozen=True, omit_defaults=True):
    """A TenantProfile (fairway.io/v1alpha1, cluster-scoped): what the jobs of these `namespaces` may name besides what
    everybody may. `tokens`: their pods may have a token of their service account mounted."""

    name: str
    namespaces: tuple[str, ...] = ()
    service_accounts: tuple[str, ...] = ()
    priority_classes: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    quota_leaves: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    runtime_classes: tuple[str, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    pod_security: str = ""
    tokens: bool = False


class Tenancy(Struct, frozen=True):
    """What one namespace may. `level` is one of LEVELS. `priority_classes` and `clusters` bound what may be named when
    a profile lists any (empty: no bound but that of system classes); all others add to what is allowed by default.
    `denies_plain_env`: no value of a secret may be written out."""

    namespace: str
    level: str = BASELINE
    service_accounts: frozenset[str] = frozenset()
    priority_classes: frozenset[str] = frozenset()
    queues: frozenset[str] = frozenset()
    quota_leaves: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()
    schedulers: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()
    tolerations: frozenset[Toleration] = frozenset()
    tokens: bool = False
    denies_plain_env: bool = False


def tenancy(namespace: str, labels: Mapping[str, str], profiles: Iterable[Profile]) -> Tenancy:
    """`labels` are those of the hub's namespace. Several profiles of one namespace add up."""
    mine = [one for one in profiles if namespace in one.namespaces]
    return Tenancy(
        namespace=namespace,
        level=level_of(labels, mine),
        service_accounts=frozenset(name for one in mine for name in one.service_accounts),
        priority_classes=frozenset(name for one in mine for name in one.priority_classes),
        queues=frozenset(name for one in mine for name in one.queues),
        quota_leaves=frozenset(name for one in mine for name in one.quota_leaves),
        clusters=frozenset(name for one in mine for name in one.clusters),
        schedulers=frozenset(name for one in mine for name in one.schedulers),
        runtime_classes=frozenset(name for one in mine for name in one.runtime_classes),
        tolerations=frozenset(each for one in mine for each in one.tolerations),
        tokens=any(one.tokens for one in mine),
        denies_plain_env=labels.get(PLAIN_ENV_LABEL, "") not in _PLAIN_ENV_ALLOWED,
    )


def level_of(labels: Mapping[str, str], profiles: Iterable[Profile]) -> str:
    """The label decides; without one the most that a profile grants; else baseline. A label that names no level means
    the strictest, as it does for Kubernetes."""
    for name in POD_SECURITY_LABELS:
        if given := labels.get(name, ""):
            return given if given in LEVELS else RESTRICTED
    granted = [one.pod_security for one in profiles if one.pod_security in LEVELS]
    return max(granted, key=LEVELS.index, default=BASELINE)


def reserved(namespace: str, more: Iterable[str] = ()) -> bool:
    """Whether it is the system's: `kube-*`, Fairway's own, and those that the fleet's settings name."""
    return namespace.startswith(_RESERVED_PREFIX) or namespace in _RESERVED or namespace in more


def reserved_reason(namespace: str) -> Reason:
    text = f"namespace {namespace} is the system's, on the hub and in every cluster: no job may be there"
    return Reason(Code.RESERVED_NAMESPACE, text, "metadata.namespace", "submit it in a namespace of your own")
