"""Everything that is looked at before a job may run: its pods, and what its kind adds to them; and no token of an
account where nobody gave the tenant a right to one."""

from collections.abc import Iterable
from typing import Any

from fairway.domain.tenancy.profile import RESTRICTED, Tenancy
from fairway.workloads.kinds.kind import Kind, Path, reach
from fairway.workloads.pod_security import baseline, restricted, tenant
from fairway.workloads.pod_security.marks import check_marks
from fairway.workloads.pod_security.nothing_to_rule_on import quiet_metadata
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, Problems

_MOUNT = "automountServiceAccountToken"


def check(kind: Kind, manifest: Field, tenancy: Tenancy) -> None:
    """Notes every refusal in the manifest's problems. The manifest has been read: its shape is that of its kind."""
    ruling = Ruling(tenancy, kind.account)
    strict = bound(tenancy)
    for pod in kind.pod_templates(manifest):
        if not strict and pod.quiet():
            continue
        tenant.check(pod, ruling, kind.schedulers)
        if not ruling.privileged:
            baseline.check(pod, ruling)
        if ruling.restricted:
            restricted.check(pod, ruling)
    _marks(manifest, kind.label_paths(manifest.value), ruling)
    kind.besides(manifest, ruling)


def bound(tenancy: Tenancy) -> bool:
    """Whether rules are for the namespace that look at more than nothing_to_rule_on does."""
    return bool(tenancy.level == RESTRICTED or tenancy.priority_classes or tenancy.denies_plain_env)


def _marks(manifest: Field, paths: Iterable[Path], ruling: Ruling) -> None:
    """Of the object itself, which operators hand on to its pods, and wherever else its labels reach pods."""
    for path in (("metadata",), *paths):
        if quiet_metadata(_reached(manifest.value, path)):
            continue
        place = manifest.at(*path)
        for name in ("labels", "annotations"):
            if place[name].given:
                check_marks(PodView(place[name]), ruling)


def _reached(value: Any, path: Path) -> Any:
    """What stands there as it is written; None where nothing can."""
    for key in path:
        value = value.get(key) if type(value) is dict else value[key] if isinstance(key, int) else None
    return value


def withhold(kind: Kind, copy: dict[str, Any]) -> None:
    """No token in any pod of a member copy; where one is needed, the account that the operator's chart makes."""
    for pod in kind.pod_templates(Field(copy, Problems())):
        if pod.template is not None and not pod.needs_token:
            spec = pod.template.value or reach(copy, pod.template.way)
            if spec.get(_MOUNT) is None:
                spec[_MOUNT] = False
        elif kind.account and not any(one.text() for one in pod.accounts):
            *way, name = pod.accounts[-1].way
            reach(copy, tuple(way))[str(name)] = kind.account
