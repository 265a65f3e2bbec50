"""What an account may do in a cluster, as the cluster has it; what of it was used; and whether it may do more."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any, NamedTuple

from tests.kubernetes.support.fleet import Api

Json = dict[str, Any]
RULES = "rbac.authorization.k8s.io/v1"
HOME = "fairway-system"
# The role that is bound in each tenant's namespace, and where that is: anywhere but in the system's.
TENANT_ROLE = "fairway-tenant"
TENANTS = "*"
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
_METHODS = {
    "get": "GET",
    "list": "GET",
    "watch": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}
_OF_MANY = ("list", "watch", "deletecollection")
# Everybody may ask what he may do.
_EVERYBODYS = {("authorization.k8s.io", "create"), ("authentication.k8s.io", "create")}


def token(hub: Api, namespace: str, account: str, audiences: tuple[str, ...] = ()) -> str:
    """One for an hour, of this service account."""
    spec = {"expirationSeconds": 3_600, **({"audiences": list(audiences)} if audiences else {})}
    path = f"v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    return str(hub.create(path, {"spec": spec})["status"]["token"])


def binding(name: str, cluster_role: str, account: tuple[str, str], namespace: str = "") -> Json:
    """Of the account, by its namespace and name: in a namespace, or in all."""
    group = RULES.partition("/")[0]
    home = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": RULES,
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": name, **home},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": cluster_role},
        "subjects": [{"kind": "ServiceAccount", "namespace": account[0], "name": account[1]}],
    }


class Right(NamedTuple):
    """`resource` with its part, such as pods/status; without `name` of every object, without `namespace` anywhere."""

    group: str
    resource: str
    verb: str
    name: str = ""
    namespace: str = ""


class Served(NamedTuple):
    base: str
    resource: str
    namespaced: bool

    @property
    def group(self) -> str:
        return self.base.split("/")[2] if self.base.startswith("/apis/") else ""


def served(api: Api) -> list[Served]:
    """Every resource of every group, in the version that its group prefers of those that have it, with parts such as
    pods/exec."""
    groups = (api.get("/apis") or {})["groups"]
    bases = ["/api/v1"]
    for group in groups:
        preferred = group["preferredVersion"]
        versions = [preferred, *(one for one in group["versions"] if one != preferred)]
        bases += [f"/apis/{one['groupVersion']}" for one in versions]
    found: dict[tuple[str, str], Served] = {}
    for base in bases:
        for one in (api.get(base) or {})["resources"]:
            made = Served(base, one["name"], one["namespaced"])
            found.setdefault((made.group, made.resource), made)
    return list(found.values())


def granted(api: Api, account: str) -> set[Right]:
    """What its bindings give a service account of Fairway's namespace, of the kinds that are served there."""
    known = {(one.group, one.resource) for one in served(api)}
    subject = ("ServiceAccount", HOME, account)
    found: set[Right] = set()
    for kind in ("clusterrolebindings", "rolebindings"):
        for binding in api.items(f"{RULES}/{kind}"):
            subjects = [(one["kind"], one.get("namespace"), one["name"]) for one in binding.get("subjects") or ()]
            if subject in subjects and binding["roleRef"]["name"] != TENANT_ROLE:
                found |= set(_of(api, binding))
    if any((one.verb, one.name) == ("bind", TENANT_ROLE) for one in found):
        ref = {"kind": "ClusterRole", "name": TENANT_ROLE}
        found |= set(_of(api, {"metadata": {"namespace": TENANTS}, "roleRef": ref}))
    return {one for one in found if (one.group, one.resource.partition("/")[0]) in known}


def _of(api: Api, binding: Json) -> Iterator[Right]:
    where = binding["metadata"].get("namespace", "")
    ref = binding["roleRef"]
    place = f"namespaces/{where}/roles" if ref["kind"] == "Role" else "clusterroles"
    for rule in (api.get(f"{RULES}/{place}/{ref['name']}") or {})["rules"] or ():
        parts = product(rule["apiGroups"], rule["resources"], rule["verbs"], rule.get("resourceNames") or [""])
        yield from (Right(*one, where) for one in parts)


def idle_and_astray(rights: set[Right], asked: Iterable[Json]) -> tuple[set[Right], set[Right]]:
    """The rights that none of these entries of an audit log needed, and what was asked beyond them or was refused."""
    used: set[Right] = set()
    astray: set[Right] = set()
    for entry in asked:
        if "objectRef" not in entry:
            continue
        one = _asked(entry)
        needed = {right for right in rights if _covers(right, one)}
        if one.resource == "rolebindings":
            needed |= {right for right in rights if right.verb == "bind"}  # the API server looks at it for that
        used |= needed
        if not needed or entry["responseStatus"]["code"] in (401, 403):
            astray.add(one)
        else:
            astray.discard(one)  # a RoleBinding counts a moment after it was made
    return rights - used, astray


def _asked(entry: Json) -> Right:
    ref = entry["objectRef"]
    part = f"/{ref['subresource']}" if "subresource" in ref else ""
    where = "" if ref["resource"] == "namespaces" else ref.get("namespace", "")
    # A refusal comes before the manifest is read: of what is created the log has the name only when it was let in.
    name = "" if entry["verb"] == "create" and not part else ref.get("name", "")
    return Right(ref.get("apiGroup", ""), ref["resource"] + part, entry["verb"], name, where)


def _covers(right: Right, one: Right) -> bool:
    here = right.namespace in ("", one.namespace) or (
        right.namespace == TENANTS and one.namespace not in ("", HOME, "kube-system")
    )
    return right[:3] == one[:3] and right.name in ("", one.name) and here


def allowed(api: Api, token: str, rights: set[Right]) -> list[str]:
    """Every request that these rights do not cover, and that is answered with anything but a refusal."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def answer(request: tuple[str, str]) -> int:
        method, path = request
        return api.http.request(method, path, headers=headers, content=b"{}" if method != "GET" else None).status_code

    requests = sorted({one for resource in served(api) for one in _others(resource, rights)})
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(answer, requests))
    assert len(requests) > 500, "there is more to try in a cluster"
    return [f"{one[0]} {one[1]}: {code}" for one, code in zip(requests, answers, strict=True) if code != 403]


def _others(one: Served, rights: set[Right]) -> Iterator[tuple[str, str]]:
    """In a namespace that is not Fairway's, in its own, and in all at once. The object is called `x`."""
    plural, _, part = one.resource.partition("/")
    for namespace, verb in product(("kube-system", HOME, "") if one.namespaced else ("",), VERBS):
        named = verb in ("get", "update", "patch", "delete") or bool(part)
        if (one.namespaced and not namespace and verb not in ("list", "watch")) or (part and verb in _OF_MANY):
            continue
        if (one.group, verb) in _EVERYBODYS:
            continue
        if any(_covers(right, Right(one.group, one.resource, verb, "x", namespace)) for right in rights):
            continue
        where = f"/namespaces/{namespace}" if namespace else ""
        path = f"{one.base}{where}/{plural}" + ("/x" if named else "") + (f"/{part}" if part else "")
        yield _METHODS[verb], path + ("?watch=1&timeoutSeconds=1" if verb == "watch" else "")


def administrator(hub: Api) -> str:
    """A token of somebody who may do everything on the hub."""
    account = {"kind": "ServiceAccount", "name": "administrator", "namespace": "default"}
    group = "rbac.authorization.k8s.io"
    hub.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "administrator", "namespace": "default"}},
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "administrator"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [account],
        },
    )
    made = hub.create("v1/namespaces/default/serviceaccounts/administrator/token", {"spec": {}})
    return str(made["status"]["token"])
