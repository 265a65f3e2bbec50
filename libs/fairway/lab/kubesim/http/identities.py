"""Who may ask a cluster, and for what: identities of a small file, with rights as RBAC has them.

Made by `fairway up` for its simulated clusters, and turned into accounts and roles for real ones.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

# Kubernetes' own: who is in the first may do everything, and everybody who is known is in the second.
MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
# What a real API server takes tokens for when nothing else is configured.
AUDIENCE = "https://kubernetes.default.svc"
_ALL = "*"
# What RBAC's system:basic-user lets everybody ask about themselves.
_OF_ONESELF = frozenset({"selfsubjectaccessreviews", "selfsubjectreviews"})


class Rule(Struct, frozen=True, omit_defaults=True):
    """A PolicyRule of RBAC, and the namespaces in which it holds: all of them and the cluster itself if none is named.
    `*` stands for every one; `names` are those of objects."""

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    namespaces: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class Identity(Struct, frozen=True, omit_defaults=True):
    token: str
    username: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()


class Identities(Struct, frozen=True):
    """The file. The first one is the administrator, whose the cluster's kubeconfig is."""

    identities: tuple[Identity, ...] = ()


class User(Struct, frozen=True):
    """Who asks, as reviews name them."""

    username: str
    uid: str = ""
    groups: tuple[str, ...] = ()

    @property
    def master(self) -> bool:
        return MASTERS in self.groups


class AccessWish(Struct, frozen=True):
    """What somebody wants to do. Either a resource, with `resource/subresource` as RBAC writes it, or a `path`."""

    verb: str
    group: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


class KnownIdentities:
    """Answers by look-ups alone: every request of a simulated cluster passes here."""

    def __init__(self, identities: Iterable[Identity]) -> None:
        known = tuple(identities)
        self._users = {one.token: _user(one) for one in known}
        self._headers = {f"Bearer {one.token}": _user(one) for one in known}
        self._rules = {one.username: one.rules for one in known}

    def asker(self, header: str) -> User | None:
        """By the Authorization header of a request; None when it is nobody's."""
        found = self._headers.get(header)
        if found is None:
            scheme, _, token = header.strip().partition(" ")
            found = self._users.get(token.strip()) if scheme.lower() == "bearer" else None
        return found

    def holder(self, token: str) -> User | None:
        return self._users.get(token)

    def allowed(self, user: User, wish: AccessWish) -> bool:
        if user.master:
            return True
        if wish.path:
            return AUTHENTICATED in user.groups and wish.verb == "get" and wish.path.startswith(_OPEN)
        if wish.verb == "create" and wish.resource in _OF_ONESELF and AUTHENTICATED in user.groups:
            return True
        return any(_grants(rule, wish) for rule in self._rules.get(user.username, ()))


# What RBAC's system:discovery lets everybody read who is known.
_OPEN = ("/api", "/openapi", "/version", "/healthz", "/livez", "/readyz")


def _user(one: Identity) -> User:
    return User(one.username, one.uid, (*one.groups, AUTHENTICATED))


def _grants(rule: Rule, wish: AccessWish) -> bool:
    return (
        _has(rule.verbs, wish.verb)
        and _has(rule.groups, wish.group)
        and _has(rule.resources, wish.resource)
        and (not rule.namespaces or wish.namespace in rule.namespaces)
        and (not rule.names or wish.name in rule.names)
    )


def _has(listed: Sequence[str], wanted: str) -> bool:
    return wanted in listed or _ALL in listed
