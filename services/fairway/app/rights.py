"""What Fairway may do in a member: the account, its role and no more. Rendered from the kinds that are known.

A line here is a promise to whoever lets Fairway in; `tests/kubernetes/test_join.py` proves each one needed and no
other asked for, from an API server's audit log.
"""

from collections.abc import Iterable
from typing import Any

import yaml
from msgspec import Struct

from fairway.app.joined import HOME
from fairway.wire.capacity import AUTO, LEDGER, PLACEHOLDERS, RESERVATIONS
from fairway.workloads.registry import KINDS

Json = dict[str, Any]

ACCOUNT = "fairway-member"
_RBAC = "rbac.authorization.k8s.io"
_LABELS = {"app.kubernetes.io/name": "fairway", "app.kubernetes.io/component": "member"}


class Right(Struct, frozen=True):
    """`why` is for whoever reads the role before letting it in. Of these `names` only, in Fairway's own namespace only
    (`home`), if that is said."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    why: str
    names: tuple[str, ...] = ()
    home: bool = False

    def rule(self) -> Json:
        found: Json = {"apiGroups": [self.group], "resources": list(self.resources), "verbs": list(self.verbs)}
        return found | ({"resourceNames": list(self.names)} if self.names else {})


# No patch and no update: what was created once is never changed, only deleted.
_JOBS = ("get", "list", "watch", "create", "delete")
_GENERAL = (
    Right("", ("nodes",), ("list", "watch"), "the agent reports room"),
    Right("", ("pods",), ("list", "watch"), "the agent reports who uses it; a deletion waits for the last pod"),
    Right("", ("namespaces",), ("get", "create"), "a tenant's namespace is made for its first job"),
)


# What it takes to hold room in the member, by the ways of wire.capacity.
_HOLDS = {
    AUTO: (
        Right(
            "coordination.k8s.io", ("leases",), ("get",), "the agent asks whether these schedulers are alive",
            names=("koord-scheduler", "kube-scheduler"),
        ),
    ),
    PLACEHOLDERS: (
        Right("", ("pods",), ("create", "get", "deletecollection"), "placeholders of Fairway's own", home=True),
        Right("", ("pods", "pods/status"), ("patch",), "a pod is nominated for its placeholder's node, and let go"),
        Right("scheduling.k8s.io", ("priorityclasses",), ("create",), "placeholders are of their pods' priority"),
    ),
    RESERVATIONS: (
        Right(
            "scheduling.koordinator.sh", ("reservations",), ("get", "list", "watch", "create", "deletecollection"),
            "Reservations of Fairway's own, and what those of others take",
        ),
    ),
}  # fmt: skip


def holding(reserve: str) -> tuple[Right, ...]:
    """What it takes beside `rights` to hold room in the member in this way; `auto` may come to either."""
    if reserve == LEDGER:
        return ()
    return tuple(right for way, found in _HOLDS.items() if reserve in (AUTO, way) for right in found)


def rights() -> tuple[Right, ...]:
    """In every namespace of the member, for every kind of job this process knows."""
    groups: dict[str, set[str]] = {}
    for kind in KINDS.values():
        group, slash, _ = kind.api_version.partition("/")
        groups.setdefault(group if slash else "", set()).add(kind.plural)
    why = "objects of jobs are applied, watched and removed"
    jobs = [Right(group, tuple(sorted(groups[group])), _JOBS, why) for group in groups]
    return (*_GENERAL, *sorted(jobs, key=lambda one: one.group))


def objects(reserve: str = AUTO) -> tuple[Json, ...]:
    """To be applied in the member in this order; `reserve` is how room may be held there."""
    held = holding(reserve)
    everywhere = _meta(ACCOUNT)
    at_home = _meta(ACCOUNT, HOME)
    subject = [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": HOME}]
    renewal = Right("", ("serviceaccounts/token",), ("create",), "").rule() | {"resourceNames": [ACCOUNT]}
    return (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": _meta(HOME)},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": at_home, "automountServiceAccountToken": False},
        _role("ClusterRole", everywhere, [right.rule() for right in (*rights(), *held) if not right.home]),
        _binding("ClusterRole", everywhere, subject),
        _role("Role", at_home, [renewal, *(right.rule() for right in held if right.home)]),
        _binding("Role", at_home, subject),
    )


def page(reserve: str = AUTO) -> str:
    """The objects as YAML, each right with its reason."""
    head = "# What Fairway may do in a member cluster, as `fairway join` applies it and `--dry-run` prints it.\n"
    why = _reasons(rights())
    renewal = f"# core: serviceaccounts/token of {ACCOUNT} itself: its token is renewed long before it ends\n"
    held = _reasons(holding(reserve))
    last = f"# To hold room here (not with --reserve ledger):\n{held}" if held else ""
    return head + why + renewal + last + documents(objects(reserve))


def _reasons(given: Iterable[Right]) -> str:
    return "".join(f"# {right.group or 'core'}: {', '.join(right.resources)}: {right.why}\n" for right in given)


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
