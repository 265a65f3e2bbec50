"""Who asks, and may they: before a request is looked at any further. A cluster without identities asks nobody."""

from collections.abc import Iterable, Mapping

from aiohttp import web

from fairway.lab.kubesim.api.errors import ApiError, about
from fairway.lab.kubesim.api.registry import SUBRESOURCES, in_api
from fairway.lab.kubesim.http.identities import AUTHENTICATED, MASTERS, AccessWish, Identity, KnownIdentities, User
from fairway.lab.kubesim.http.query import flag

# What a real API server tells anybody (system:public-info-viewer).
PUBLIC = ("healthz", "livez", "readyz", "version")
_ANYBODY = User("system:anonymous", groups=(MASTERS,))
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get", "HEAD": "get"}


class Authorizer:
    def __init__(self, identities: Iterable[Identity] = ()) -> None:
        known = tuple(identities)
        self.known = KnownIdentities(known) if known else None

    def admit(self, request: web.BaseRequest, parts: list[str]) -> User:
        """Who asks. Raises 401 when that is nobody, 403 when they may not."""
        if self.known is None or (parts[:1] and parts[0] in PUBLIC):
            return _ANYBODY
        user = self.known.asker(request.headers.get("Authorization", ""))
        if user is None:
            raise ApiError(401, "Unauthorized", "Unauthorized")
        if "Impersonate-User" in request.headers:
            user = self._another(user, request)
        if not user.master:
            wish = wished(request.method, parts, request.query)
            if not self.known.allowed(user, wish):
                raise forbidden(user, wish)
        return user

    def _another(self, user: User, request: web.BaseRequest) -> User:
        """Whom the asker speaks for, as `kubectl --as` does: an administrator may."""
        name = request.headers["Impersonate-User"]
        if not user.master:
            raise forbidden(user, AccessWish("impersonate", resource="users", name=name))
        return User(name, groups=(*request.headers.getall("Impersonate-Group", ()), AUTHENTICATED))


def wished(method: str, parts: list[str], query: Mapping[str, str]) -> AccessWish:
    """What a request wants, by its method and path (k8s.io/apiserver, RequestInfo)."""
    verb = _VERBS.get(method, method.lower())
    group, _, rest = in_api(parts)
    if not rest:
        return AccessWish(verb, path="/" + "/".join(parts))
    namespace = rest[1] if rest[0] == "namespaces" and len(rest) > 1 else ""
    if namespace and len(rest) > 2 and rest[2] not in SUBRESOURCES:
        rest = rest[2:]
    plural, name, sub = (*rest, "", "")[:3]
    if not name:
        verb = {"get": "list", "delete": "deletecollection"}.get(verb, verb)
        verb = "watch" if verb == "list" and flag(query, "watch") else verb
    return AccessWish(verb, group, f"{plural}/{sub}" if sub else plural, namespace, name)


def forbidden(user: User, wish: AccessWish) -> ApiError:
    """In the words of a real API server."""
    if wish.path:
        text = f'forbidden: User "{user.username}" cannot {wish.verb} path "{wish.path}"'
        return ApiError(403, "Forbidden", text)
    plural = wish.resource.partition("/")[0]
    storage = f"{plural}.{wish.group}" if wish.group else plural
    named = f' "{wish.name}"' if wish.name else ""
    where = f'in the namespace "{wish.namespace}"' if wish.namespace else "at the cluster scope"
    text = (
        f'{storage}{named} is forbidden: User "{user.username}" cannot {wish.verb} resource "{wish.resource}" '
        f'in API group "{wish.group}" {where}'
    )
    return ApiError(403, "Forbidden", text, about(storage, wish.name))
