"""What a pod may name only where a TenantProfile lists it, besides the Pod Security Standards."""

import re
from collections.abc import Callable, Iterable

from fairway.domain.tenancy.profile import SYSTEM_CLASSES
from fairway.wire.workload import Toleration
from fairway.workloads.pod_security.marks import check_marks
from fairway.workloads.pod_security.plain_secrets import plain_variables
from fairway.workloads.pod_security.pod import Pod, containers
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import shown
from fairway.workloads.reading.names import OURS

DEFAULT = "default"
# Those of Kubernetes and of Koordinator, which Fairway itself names where room is held by Reservations.
SCHEDULERS = frozenset(("", "default-scheduler", "koord-scheduler"))
TOKENS = "TenantProfile spec.automountServiceAccountToken"
ACCOUNTS = "TenantProfile spec.serviceAccounts"
# The names that Kubernetes (before 1.24) and Argo give to secrets that hold the token of an account; the letters are
# those of apimachinery/pkg/util/rand.
_TOKEN_SECRET = re.compile(r".+-token-[bcdfghjklmnpqrstvwxz2456789]{5}|.+\.service-account-token")


def check(pod: Pod, ruling: Ruling, schedulers: Iterable[str] = ()) -> None:
    spec = pod.spec
    for name, rule in _RULES.items():
        if spec.mentions(name):
            rule(spec[name], ruling)
    if spec.mentions("schedulerName"):
        scheduler(spec["schedulerName"], ruling, schedulers)
    _identity(pod, ruling)
    if spec.mentions("volumes"):
        _volumes(spec["volumes"], ruling)
    _metadata(pod.metadata, ruling)
    for container in containers(pod):
        if container.mentions("env") or container.mentions("envFrom"):
            environment(container, ruling)


def _identity(pod: Pod, ruling: Ruling) -> None:
    """Whom it acts as, and whether it is given the token for that."""
    for name in ("serviceAccountName", "serviceAccount"):
        if pod.spec.mentions(name):
            account(pod.spec[name], ruling, pod.needs_token)
    if pod.spec.mentions("automountServiceAccountToken") and not pod.needs_token:
        _token(pod.spec["automountServiceAccountToken"], ruling)


def _metadata(metadata: PodView, ruling: Ruling) -> None:
    if metadata.mentions("labels"):
        labels(metadata["labels"], ruling)
    for name in ("labels", "annotations"):
        if metadata.mentions(name):
            check_marks(metadata[name], ruling)


def account(view: PodView, ruling: Ruling, needs_token: bool = True) -> None:
    """A service account that a pod, or the operator for it, acts as."""
    tenancy = ruling.tenancy
    for place in view.each():
        name = place.text()
        if name in ("", ruling.account) or name in tenancy.service_accounts:
            continue
        if name != DEFAULT:
            own = f"use {(needs_token and ruling.account) or DEFAULT}"
            ruling.unlisted(place, f"acts as the service account {shown(name)}", ACCOUNTS, own)
        elif needs_token and not tenancy.tokens:
            text = "needs the token of its service account, and that of `default` is not given out"
            own = f"leave it out or use {ruling.account}" if ruling.account else "leave it out"
            ruling.unlisted(place, text, TOKENS, own)


def labels(view: PodView, ruling: Ruling) -> None:
    """By ours a pod is counted as one of a job's: none may say so of itself, wherever its labels stand."""
    for key, value in view.pairs():
        if key.startswith(OURS):
            ruling.never(value, "only Fairway sets labels under fairway.io/", "remove this label")
        elif "{{" in key:
            ruling.unseen(value, "is a label whose name is filled in only at run time")


def priority(view: PodView, ruling: Ruling) -> None:
    """One of the system's classes, or one beyond those that the tenant is bound to."""
    listed = ruling.tenancy.priority_classes
    for place in view.each():
        name = place.text()
        if name in listed or not name:
            continue
        if listed or name.startswith(SYSTEM_CLASSES) or "{{" in name:
            text = f"takes the PriorityClass {shown(name)}"
            ruling.unlisted(place, text, "TenantProfile spec.priorityClasses", "use another one")


def secret(view: PodView, ruling: Ruling) -> None:
    """The name of a secret that may be the token of an account."""
    name = view.value
    if isinstance(name, str) and _TOKEN_SECRET.fullmatch(name) and not ruling.tenancy.tokens:
        ruling.unlisted(view, f"{shown(name)} is named as the token of a service account", TOKENS, "rename the secret")


def scheduler(view: PodView, ruling: Ruling, schedulers: Iterable[str] = ()) -> None:
    """Fairway counts on what its schedulers do with room that is held."""
    allowed = {*SCHEDULERS, *schedulers, *ruling.tenancy.schedulers}
    for place in view.each():
        if place.text() not in allowed:
            text = f"names the scheduler {shown(place.value)}"
            ruling.unlisted(place, text, "TenantProfile spec.schedulers", "leave it out")


def _node(view: PodView, ruling: Ruling) -> None:
    if view.value not in (None, ""):
        ruling.baseline(view, f"puts the pod on node {shown(view.value)} past every scheduler")


def _runtime(view: PodView, ruling: Ruling) -> None:
    for place in view.each():
        if place.text() and place.text() not in ruling.tenancy.runtime_classes:
            text = f"names the RuntimeClass {shown(place.value)}"
            ruling.unlisted(place, text, "TenantProfile spec.runtimeClasses", "leave it out")


def _tolerations(view: PodView, ruling: Ruling) -> None:
    for entry in view.items():
        key, operator, effect = (entry[name].value for name in ("key", "operator", "effect"))
        late = "{{" in str(key) or "{{" in str(operator)
        if not late and (key not in (None, "") or operator != "Exists"):
            continue
        if not any(_covers(one, effect) for one in ruling.tenancy.tolerations):
            text = "is filled in only at run time" if late else "tolerates every taint"
            ruling.unlisted(entry, text, "TenantProfile spec.tolerations", "name the taint")


def _covers(listed: Toleration, effect: str | None) -> bool:
    return not listed.key and listed.operator == "Exists" and listed.effect in ("", effect)


def _token(view: PodView, ruling: Ruling) -> None:
    if view.value not in (None, False) and not ruling.tenancy.tokens:
        ruling.unlisted(view, "mounts the token of the pod's service account", TOKENS, "leave it out")


def _volumes(view: PodView, ruling: Ruling) -> None:
    for volume in view.items():
        if volume.mentions("secret"):
            secret(volume["secret"]["secretName"], ruling)
        if volume.mentions("projected"):
            _projected(volume["projected"]["sources"], ruling)


def _projected(sources: PodView, ruling: Ruling) -> None:
    for source in sources.items():
        if source["serviceAccountToken"].given and not ruling.tenancy.tokens:
            text = "mounts a token of the pod's service account"
            ruling.unlisted(source["serviceAccountToken"], text, TOKENS, "leave it out")
        secret(source["secret"]["name"], ruling)


def environment(container: PodView, ruling: Ruling) -> None:
    """Of a container, or of what an operator puts into one."""
    plain_variables(container["env"], ruling)
    for entry in container["env"].items():
        if entry.mentions("valueFrom"):
            secret(entry["valueFrom"]["secretKeyRef"]["name"], ruling)
    for entry in container["envFrom"].items():
        secret(entry["secretRef"]["name"], ruling)


def _claims(view: PodView, ruling: Ruling) -> None:
    """Of dynamic resource allocation: devices that stand in no amounts."""
    if view.value not in (None, []):
        text = "claims devices that no quota counts"
        ruling.trusted(view, text, "ask for them as a resource of a device plugin, such as nvidia.com/gpu")


_RULES: dict[str, Callable[[PodView, Ruling], None]] = {
    "nodeName": _node,
    "runtimeClassName": _runtime,
    "priorityClassName": priority,
    "tolerations": _tolerations,
    "resourceClaims": _claims,
}
