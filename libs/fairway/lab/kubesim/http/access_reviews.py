"""TokenReview, SubjectAccessReview and what one asks about oneself, answered as a real API server answers them."""

from typing import Any

from fairway.lab.kubesim.api.errors import ApiError, Json, bad_request, invalid
from fairway.lab.kubesim.api.registry import ApiResource
from fairway.lab.kubesim.http.identities import AUDIENCE, MASTERS, AccessWish, KnownIdentities, User

AUTHENTICATION = "authentication.k8s.io"
AUTHORIZATION = "authorization.k8s.io"


def _review(group: str, kind: str) -> ApiResource:
    return ApiResource(group, "v1", kind, f"{kind.lower()}s", False, status=False, builtin=True, verbs=("create",))


RESOURCES = (
    _review(AUTHENTICATION, "TokenReview"),
    _review(AUTHENTICATION, "SelfSubjectReview"),
    _review(AUTHORIZATION, "SubjectAccessReview"),
    _review(AUTHORIZATION, "SelfSubjectAccessReview"),
)


def answer(known: KnownIdentities, asker: User, resource: ApiResource, body: Any) -> Json:
    """The review with its status. Nothing of it is stored."""
    if not isinstance(body, dict) or not isinstance(spec := body.get("spec") or {}, dict):
        raise bad_request("the body of the request is not a review")
    given = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": body.get("metadata") or {}}
    for field in ("apiVersion", "kind"):
        if body.get(field, given[field]) != given[field]:
            raise bad_request(f"the {field} in the data ({body[field]}) does not match the expected ({given[field]})")
    match resource.kind:
        case "TokenReview":
            status = _token(known, spec)
        case "SelfSubjectReview":
            return {**given, "status": {"userInfo": _info(asker)}}
        case "SelfSubjectAccessReview":
            status = _access(known, asker, resource, spec)
        case _:
            status = _access(known, _subject(spec, resource), resource, spec)
    return {**given, "spec": spec, "status": status}


def _token(known: KnownIdentities, spec: Json) -> Json:
    """A token of the file is for the API server alone: who asks for other audiences only is told that it is not for
    them, as of a real server's token file."""
    user = known.holder(str(spec.get("token") or ""))
    if user is None:
        return {"user": {}, "error": "invalid bearer token"}
    wanted = spec.get("audiences") or [AUDIENCE]
    if AUDIENCE not in wanted:
        return {"user": {}, "error": f'token audiences "{AUDIENCE}" are none of those that are asked for'}
    return {"authenticated": True, "user": _info(user), "audiences": [AUDIENCE]}


def _info(user: User) -> Json:
    named = {"username": user.username, "uid": user.uid, "groups": list(user.groups)}
    return {key: value for key, value in named.items() if value}


def _subject(spec: Json, resource: ApiResource) -> User:
    groups = tuple(map(str, spec.get("groups") or ()))
    if not spec.get("user") and not groups:
        text = 'Invalid value: "": at least one of user or group must be specified'
        raise invalid(resource.group_kind, "", [("spec.user", text)])
    return User(str(spec.get("user") or ""), str(spec.get("uid") or ""), groups)


def _access(known: KnownIdentities, user: User, resource: ApiResource, spec: Json) -> Json:
    wish = _wish(spec, resource)
    if known.allowed(user, wish):
        why = f'group "{MASTERS}"' if user.master else f'the rules of "{user.username}"'
        return {"allowed": True, "reason": f"allowed by {why}"}
    return {"allowed": False}


def _wish(spec: Json, resource: ApiResource) -> AccessWish:
    asked = spec.get("resourceAttributes")
    path = spec.get("nonResourceAttributes")
    if bool(asked) is bool(path):
        text = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise invalid(resource.group_kind, "", [("spec.resourceAttributes", text)])
    if path:
        return AccessWish(str(path.get("verb") or ""), path=str(path.get("path") or ""))
    if not isinstance(asked, dict):
        raise ApiError(400, "BadRequest", "spec.resourceAttributes is not an object")
    plural = str(asked.get("resource") or "")
    sub = str(asked.get("subresource") or "")
    return AccessWish(
        str(asked.get("verb") or ""),
        str(asked.get("group") or ""),
        f"{plural}/{sub}" if sub else plural,
        str(asked.get("namespace") or ""),
        str(asked.get("name") or ""),
    )
