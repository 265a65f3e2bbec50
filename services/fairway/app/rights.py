"""What Fairway may do in a member: the account, its role and no more. Rendered from the kinds that are known.

A line here is a promise to whoever lets Fairway in; `tests/kubernetes/test_join.py` proves each one needed and no
other asked for, from an API server's audit log.
"""

from collections.abc import Iterable
from typing import Any

import yaml
from msgspec import Struct

from fairway.app.joined import HOME
from fairway.workloads.registry import KINDS

Json = dict[str, Any]

ACCOUNT = "fairway-member"
_RBAC = "rbac.authorization.k8s.io"
_LABELS = {"app.kubernetes.io/name": "fairway", "app.kubernetes.io/component": "member"}


class Right(Struct, frozen=True):
    """`why` is for whoever reads the role before letting it in."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    why: str

    def rule(self) -> Json:
        return {"apiGroups": [self.group], "resources": list(self.resources), "verbs": list(self.verbs)}


# No patch and no update: what was created once is never changed, only deleted.
_JOBS = ("get", "list", "watch", "create", "delete")
_GENERAL = (
    Right("", ("nodes",), ("list", "watch"), "the agent reports room"),
    Right("", ("pods",), ("list", "watch"), "the agent reports who uses it; a deletion waits for the last pod"),
    Right("", ("namespaces",), ("get", "create"), "a tenant's namespace is made for its first job"),
)


def rights() -> tuple[Right, ...]:
    """In every namespace of the member, for every kind of job this process knows."""
    groups: dict[str, set[str]] = {}
    for kind in KINDS.values():
        group, slash, _ = kind.api_version.partition("/")
        groups.setdefault(group if slash else "", set()).add(kind.plural)
    why = "objects of jobs are applied, watched and removed"
    jobs = [Right(group, tuple(sorted(groups[group])), _JOBS, why) for group in groups]
    return (*_GENERAL, *sorted(jobs, key=lambda one: one.group))


def objects() -> tuple[Json, ...]:
    """To be applied in the member in this order."""
    everywhere = _meta(ACCOUNT)
    at_home = _meta(ACCOUNT, HOME)
    subject = [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": HOME}]
    renewal = Right("", ("serviceaccounts/token",), ("create",), "").rule() | {"resourceNames": [ACCOUNT]}
    return (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": _meta(HOME)},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": at_home, "automountServiceAccountToken": False},
        _role("ClusterRole", everywhere, [right.rule() for right in rights()]),
        _binding("ClusterRole", everywhere, subject),
        _role("Role", at_home, [renewal]),
        _binding("Role", at_home, subject),
    )


def page() -> str:
    """The objects as YAML, each right with its reason."""
    head = "# What Fairway may do in a member cluster, as `fairway join` applies it and `--dry-run` prints it.\n"
    why = "".join(f"# {right.group or 'core'}: {', '.join(right.resources)}: {right.why}\n" for right in rights())
    renewal = f"# core: serviceaccounts/token of {ACCOUNT} itself: its token is renewed long before it ends\n"
    return head + why + renewal + documents(objects())


def documents(manifests: Iterable[Json]) -> str:
    return "".join("---\n" + yaml.safe_dump(one, sort_keys=False) for one in manifests)


def _meta(name: str, namespace: str = "") -> Json:
    return {"name": name, **({"namespace": namespace} if namespace else {}), "labels": dict(_LABELS)}


def _role(kind: str, metadata: Json, rules: list[Json]) -> Json:
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "rules": rules}


def _binding(kind: str, metadata: Json, subjects: list[Json]) -> Json:
    ref = {"apiGroup": _RBAC, "kind": kind, "name": metadata["name"]}
    return {
        "apiVersion": f"{_RBAC}/v1", "kind": f"{kind}Binding", "metadata": metadata, "roleRef": ref,
        "subjects": subjects,
    }  # fmt: skip
