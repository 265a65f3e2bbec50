"""What Fairway may do in a member: the account, its role and no more. Rendered from the kinds that are known.

A line here is a promise to whoever lets Fairway in; `tests/kubernetes/rights/test_rights.py` proves each one
needed and no other asked for, from an API server's audit log.
"""

from collections.abc import Iterable
from typing import Any

import yaml
from msgspec import Struct

from fairway.adapters.kubernetes.namespaces import ACCOUNT, TENANT_ROLE
from fairway.domain.batch_resources import PROFILE
from fairway.domain.tenancy.member_namespace import LEVEL_LABEL
from fairway.domain.tenancy.profile import HOME, RESTRICTED
from fairway.join import member_policies
from fairway.runtime.views.members import NO_FACTS, Facts
from fairway.wire.capacity import AUTO, PLACEHOLDERS, RESERVATIONS
from fairway.workloads.kinds.registry import KINDS

Json = dict[str, Any]

PUSH = "push"
_RBAC = "rbac.authorization.k8s.io"
_LABELS = {"app.kubernetes.io/name": "fairway", "app.kubernetes.io/component": "member"}


class MemberRight(Struct, frozen=True):
    """`why` is for whoever reads the role before letting it in; `names` are the only objects that it is for."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    why: str
    names: tuple[str, ...] = ()

    def rule(self) -> Json:
        only = {"resourceNames": list(self.names)} if self.names else {}
        return {"apiGroups": [self.group], "resources": list(self.resources), "verbs": list(self.verbs)} | only


# Of what was created only that changes which its operator takes over while it runs. Somebody may take its labels off,
# by which it is followed: they are put back. A policy of the member refuses every other patch (member_policies.py).
_READ = ("get", "list", "watch")
_WRITE = ("create", "patch", "delete")
_GENERAL = (
    MemberRight("", ("nodes",), ("list", "watch"), "the agent reports room"),
    MemberRight("", ("pods",), ("list", "watch"), "the agent reports who uses it; a deletion waits for the last pod"),
    MemberRight(
        "", ("namespaces",), ("get", "create", "patch"), "a tenant's namespace is made, and raised in Pod Security"
    ),
    MemberRight(_RBAC, ("rolebindings",), ("create",), "its rights in a tenant's namespace are taken there"),
    MemberRight(_RBAC, ("clusterroles",), ("bind",), "of all roles it may take that one", (TENANT_ROLE,)),
    MemberRight(
        "scheduling.k8s.io", ("priorityclasses",), ("create",), "a job's PriorityClass is made where it is missing"
    ),
    MemberRight("scheduling.volcano.sh", ("queues",), ("create",), "a Volcano Job's queue is made where it is missing"),
    MemberRight(
        "config.koordinator.sh",
        ("clustercolocationprofiles",),
        ("get",),
        "whether pods on batch resources are converted there",
        (PROFILE,),
    ),
)


_HOLDS = {
    RESERVATIONS: (
        MemberRight(
            "scheduling.koordinator.sh",
            ("reservations",),
            ("get", "list", "watch", "create", "deletecollection"),
            "Reservations hold room for a job before it is applied",
        ),
    ),
}
_GIVES_ROOM = MemberRight(
    "", ("pods", "pods/status"), ("patch",), "a job's pod is given the room that a placeholder held"
)
_SENT = ("configmaps", "serviceaccounts", "persistentvolumeclaims")
_ALONG = "what a job's pods name goes along with it, unless there is one of that name"
_PART = "what a job runs stands in an object of its own, which goes with it"
_ANEW = "one that is immutable is made anew"
_COMPANIONS = {
    PUSH: (
        MemberRight("", (*_SENT, "secrets"), ("get", "create", "patch"), _ALONG),
        MemberRight("", ("configmaps", "secrets"), ("delete",), _ANEW),
    ),
    # No Secret goes over the bus.
    "pull": (
        MemberRight("", _SENT, ("get", "create", "patch"), _ALONG),
        MemberRight("", ("configmaps",), ("delete",), _ANEW),
        MemberRight("", ("secrets",), ("get",), "whether a Secret that a job names was put there by hand"),
    ),
}
# An account of its own, which only a process with the agent uses: whoever steals the other's token has it for a day.
RENEWER = "fairway-renewal"
# At home, and nowhere else.
_RENEWAL = MemberRight(
    "",
    ("serviceaccounts/token",),
    ("create",),
    "the tokens of both accounts are renewed in good time",
    (ACCOUNT, RENEWER),
)
_ROOMS = MemberRight("", ("pods",), ("get", "create", "deletecollection"), "placeholders are made and taken away")
_ASKED = MemberRight(
    "coordination.k8s.io",
    ("leases",),
    ("get",),
    "which schedulers live, and so how room can be held",
    ("kube-scheduler", "koord-scheduler"),
)


def job_resources() -> dict[str, tuple[str, ...]]:
    """Of every kind of job that this process knows, by API group."""
    groups: dict[str, set[str]] = {}
    for kind in KINDS.values():
        group, slash, _ = kind.api_version.partition("/")
        groups.setdefault(group if slash else "", set()).add(kind.plural)
    return {group: tuple(sorted(groups[group])) for group in sorted(groups)}


def part_resources() -> dict[str, tuple[str, ...]]:
    """Of what jobs of some kinds are not whole without, by API group."""
    groups: dict[str, set[str]] = {}
    for kind in KINDS.values():
        for key, plural in kind.brings.items():
            groups.setdefault(key.partition(".")[2].partition("/")[0], set()).add(plural)
    return {group: tuple(sorted(groups[group])) for group in sorted(groups)}


def changed_in_place() -> dict[tuple[str, str], tuple[tuple[str, ...], ...]]:
    """The fields that jobs may be changed in while they run, by API group and resource."""
    found: dict[tuple[str, str], tuple[tuple[str, ...], ...]] = {}
    for kind in KINDS.values():
        group, slash, _ = kind.api_version.partition("/")
        where = (group if slash else "", kind.plural)
        found[where] = tuple(dict.fromkeys((*found.get(where, ()), *kind.in_place)))
    return found


def everywhere(reserve: str = AUTO) -> tuple[MemberRight, ...]:
    """In the whole member. `reserve` as in wire.capacity.RESERVE: without holding room there, less is needed."""
    jobs = [MemberRight(group, found, _READ, "jobs are followed") for group, found in job_resources().items()]
    holds = [right for way, found in _HOLDS.items() if reserve in (AUTO, way) for right in found]
    asked = [_ASKED] if reserve == AUTO else []
    return (*_GENERAL, *jobs, *asked, *holds)


def in_tenants(reserve: str = AUTO, mode: str = PUSH) -> tuple[MemberRight, ...]:
    """In the namespaces of tenants, by a RoleBinding in each."""
    why = "objects of jobs are applied, changed in place, given back their labels and removed"
    jobs = [MemberRight(group, found, _WRITE, why) for group, found in job_resources().items()]
    parts = [MemberRight(group, found, ("get", "create"), _PART) for group, found in part_resources().items()]
    holds = [_GIVES_ROOM] if reserve in (AUTO, PLACEHOLDERS) else []
    return (*jobs, *parts, *_COMPANIONS[mode], *holds)


def at_home(reserve: str = AUTO) -> tuple[MemberRight, ...]:
    """In Fairway's own namespace of the member."""
    return (_ROOMS,) if reserve in (AUTO, PLACEHOLDERS) else ()


def to_renew(mode: str = PUSH) -> tuple[MemberRight, ...]:
    """Of the other account. `mode` pull: the kubelet renews the token of the pod beside the member."""
    return (_RENEWAL,) if mode == PUSH else ()


def objects(facts: Facts = NO_FACTS) -> tuple[Json, ...]:
    """To be applied in the member in this order: what bounds the account comes before what it may."""
    whole = _meta(ACCOUNT)
    tenants = _meta(TENANT_ROLE)
    here = _meta(ACCOUNT, HOME)
    home = _meta(HOME)
    home["labels"] |= {LEVEL_LABEL: RESTRICTED}
    subject = [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": HOME}]
    return (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": home},
        *member_policies.policies(
            job_resources(),
            part_resources(),
            changed_in_place(),
            facts,
        ),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": here, "automountServiceAccountToken": False},
        _role("ClusterRole", tenants, in_tenants(facts.reserve, facts.mode)),
        _role("ClusterRole", whole, everywhere(facts.reserve)),
        _binding("ClusterRole", whole, subject),
        _role("Role", here, at_home(facts.reserve)),
        _binding("Role", here, subject),
        *_renewer(facts.mode),
    )


def _renewer(mode: str) -> tuple[Json, ...]:
    if not to_renew(mode):
        return ()
    here = _meta(RENEWER, HOME)
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": here, "automountServiceAccountToken": False},
        _role("Role", here, to_renew(mode)),
        _binding("Role", here, [{"kind": "ServiceAccount", "name": RENEWER, "namespace": HOME}]),
    )


def page(facts: Facts = NO_FACTS) -> str:
    """The objects as YAML, each right with its reason."""
    head = "# What Fairway may do in a member cluster, as `fairway join` applies it and `--dry-run` prints it.\n"
    lines = [_line(right, "") for right in everywhere(facts.reserve)]
    lines += [_line(right, " in tenants' namespaces") for right in in_tenants(facts.reserve, facts.mode)]
    lines += [_line(right, f" in {HOME}") for right in at_home(facts.reserve)]
    lines += [_line(right, f" in {HOME}, of account {RENEWER}") for right in to_renew(facts.mode)]
    return head + "".join(lines) + documents(objects(facts))


def _line(right: MemberRight, where: str) -> str:
    return f"# {right.group or 'core'}: {', '.join(right.resources)}{where}: {right.why}\n"


def documents(manifests: Iterable[Json]) -> str:
    return "".join("---\n" + yaml.safe_dump(one, sort_keys=False) for one in manifests)


def _meta(name: str, namespace: str = "") -> Json:
    return {"name": name, **({"namespace": namespace} if namespace else {}), "labels": dict(_LABELS)}


def _role(kind: str, metadata: Json, found: Iterable[MemberRight]) -> Json:
    rules = [right.rule() for right in found]
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "rules": rules}


def _binding(kind: str, metadata: Json, subjects: list[Json]) -> Json:
    ref = {"apiGroup": _RBAC, "kind": kind, "name": metadata["name"]}
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": ref,
        "subjects": subjects,
    }
