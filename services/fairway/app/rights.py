"""What Fairway may do in a member: the account, its role and no more. Rendered from the kinds that are known.

A line here is a promise to whoever lets Fairway in; `tests/kubernetes/test_rights.py` proves each one needed and no
other asked for, from an API server's audit log.
"""

from collections.abc import Iterable
from typing import Any

import yaml
from msgspec import Struct

from fairway.app.joined import HOME
from fairway.wire.capacity import AUTO, PLACEHOLDERS, RESERVATIONS
from fairway.workloads.registry import KINDS

Json = dict[str, Any]

ACCOUNT = "fairway-member"
PUSH = "push"
_RBAC = "rbac.authorization.k8s.io"
_LABELS = {"app.kubernetes.io/name": "fairway", "app.kubernetes.io/component": "member"}


class Right(Struct, frozen=True):
    """`why` is for whoever reads the role before letting it in; `names` are the only objects that it is for."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    why: str
    names: tuple[str, ...] = ()

    def rule(self) -> Json:
        only = {"resourceNames": list(self.names)} if self.names else {}
        return {"apiGroups": [self.group], "resources": list(self.resources), "verbs": list(self.verbs)} | only


# No patch and no update: what was created once is never changed, only deleted.
_JOBS = ("get", "list", "watch", "create", "delete")
_GENERAL = (
    Right("", ("nodes",), ("list", "watch"), "the agent reports room"),
    Right("", ("pods",), ("list", "watch"), "the agent reports who uses it; a deletion waits for the last pod"),
    Right("", ("namespaces",), ("create",), "a tenant's namespace is made for its first job"),
    Right("", ("namespaces",), ("get",), "the question whether the API answers", ("default",)),
    Right("scheduling.k8s.io", ("priorityclasses",), ("create",), "a job's PriorityClass is made where it is missing"),
)


_HOLDS = {
    RESERVATIONS: (
        Right("scheduling.koordinator.sh", ("reservations",), ("get", "list", "watch", "create", "deletecollection"),
              "Reservations hold room for a job before it is applied"),
    ),
    PLACEHOLDERS: (
        Right("", ("pods", "pods/status"), ("patch",), "a job's pod is given the room that a placeholder held"),
    ),
}  # fmt: skip
# At home, and nowhere else.
_RENEWAL = Right("", ("serviceaccounts/token",), ("create",), "its own token is renewed in good time", (ACCOUNT,))
_ROOMS = Right("", ("pods",), ("get", "create", "deletecollection"), "placeholders are made and taken away")
_ASKED = Right("coordination.k8s.io", ("leases",), ("get",), "which schedulers live, and so how room can be held",
               ("kube-scheduler", "koord-scheduler"))  # fmt: skip


def rights(reserve: str = AUTO) -> tuple[Right, ...]:
    """In every namespace of the member, for every kind of job this process knows; `reserve` as in
    wire.capacity.RESERVE: without holding room in the member, less is needed."""
    groups: dict[str, set[str]] = {}
    for kind in KINDS.values():
        group, slash, _ = kind.api_version.partition("/")
        groups.setdefault(group if slash else "", set()).add(kind.plural)
    why = "objects of jobs are applied, watched and removed"
    jobs = [Right(group, tuple(sorted(groups[group])), _JOBS, why) for group in groups]
    holds = [right for way, found in _HOLDS.items() if reserve in (AUTO, way) for right in found]
    asked = [_ASKED] if reserve == AUTO else []
    return (*_GENERAL, *sorted(jobs, key=lambda one: one.group), *asked, *holds)


def at_home(reserve: str = AUTO, mode: str = PUSH) -> tuple[Right, ...]:
    """In Fairway's own namespace of the member. `mode` pull: the kubelet renews the token of the pod beside it."""
    renewal = [_RENEWAL] if mode == PUSH else []
    return (*renewal, _ROOMS) if reserve in (AUTO, PLACEHOLDERS) else tuple(renewal)


def objects(reserve: str = AUTO, mode: str = PUSH) -> tuple[Json, ...]:
    """To be applied in the member in this order."""
    everywhere = _meta(ACCOUNT)
    here = _meta(ACCOUNT, HOME)
    subject = [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": HOME}]
    return (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": _meta(HOME)},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": here, "automountServiceAccountToken": False},
        _role("ClusterRole", everywhere, [right.rule() for right in rights(reserve)]),
        _binding("ClusterRole", everywhere, subject),
        _role("Role", here, [right.rule() for right in at_home(reserve, mode)]),
        _binding("Role", here, subject),
    )


def page(reserve: str = AUTO, mode: str = PUSH) -> str:
    """The objects as YAML, each right with its reason."""
    head = "# What Fairway may do in a member cluster, as `fairway join` applies it and `--dry-run` prints it.\n"
    lines = [_line(right, "") for right in rights(reserve)]
    lines += [_line(right, f" in {HOME}") for right in at_home(reserve, mode)]
    return head + "".join(lines) + documents(objects(reserve, mode))


def _line(right: Right, where: str) -> str:
    return f"# {right.group or 'core'}: {', '.join(right.resources)}{where}: {right.why}\n"


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
