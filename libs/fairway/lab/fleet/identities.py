"""Who may ask the clusters of `fairway up`: an administrator of each, and on the hub a tenant of each demo namespace.

Tokens are made anew at every start. The files that hold them are their owner's alone.
"""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fairway.domain.tenancy.profile import HOME
from fairway.lab.kubesim.http.identities import MASTERS, Identities, Identity, Rule
from fairway.runtime import private_files
from fairway.workloads.kinds.registry import KINDS

ADMIN = "admin"
# The namespaces of deploy/examples and of the demo.
TENANTS = (
    "team-vision",
    "team-speech",
    "team-data",
    "team-language",
    "team-trial",
    "team-apps",
    "team-night",
    "team-day",
    "team-lender",
    "team-borrower",
    "team-shift",
    "team-ops",
)
_WRITE = ("create", "get", "list", "watch", "update", "patch", "delete")
_READ = ("get", "list", "watch")
_POLICIES = ("policy.karmada.io", "policy.one.alibabacloud.com")


def administrator() -> Identity:
    """May do everything."""
    return Identity(_token(), ADMIN, ADMIN, (MASTERS,))


def tenant(namespace: str) -> Identity:
    """May submit, see and end jobs of its namespace, set policies there, and see queues, quota and clusters: nothing of
    another namespace, and none of the settings that hold for the whole fleet."""
    here = (namespace,)
    kinds = sorted({(kind.api_version.rpartition("/")[0], kind.plural) for kind in KINDS.values()})
    return Identity(
        _token(),
        namespace,
        namespace,
        (),
        (
            *(Rule((group,), (plural,), _WRITE, here) for group, plural in kinds),
            Rule(_POLICIES, ("propagationpolicies",), _WRITE, here),
            Rule(("",), ("events",), _READ, here),
            Rule(("",), ("namespaces",), ("get",), here),
            Rule(("work.karmada.io",), ("resourcebindings",), _READ, here),
            Rule(("fairway.io",), ("jobs",), _READ, here),
            Rule(("fairway.io",), ("queues", "quotas", "clusters"), ("list",)),
            # Where the fleet is, for `kubectl fairway`.
            Rule(("",), ("configmaps",), ("get",), (HOME,), ("fairway",)),
        ),
    )


def _token() -> str:
    return secrets.token_urlsafe(32)


def of_hub() -> tuple[Identity, ...]:
    return administrator(), *map(tenant, TENANTS)


def write(path: Path, identities: Sequence[Identity]) -> str:
    """The file as simulated and real clusters read it; its name."""
    private_files.write(path, msgspec.json.format(msgspec.json.encode(Identities(tuple(identities)))))
    return str(path)


def kubeconfig_of(hub: dict[str, Any], one: Identity) -> bytes:
    """The administrator's kubeconfig with another's token, and their namespace."""
    context = hub["contexts"][0]["context"]
    changed = {
        **hub,
        "users": [{"name": context["user"], "user": {"token": one.token}}],
        "contexts": [{**hub["contexts"][0], "context": {**context, "namespace": one.username}}],
    }
    return msgspec.json.format(msgspec.json.encode(changed))
