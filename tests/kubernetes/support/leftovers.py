"""What is in a namespace: everything that its API serves there, less what Kubernetes and Fairway put into each."""

from functools import cache

from tests.kubernetes.support.fleet import Api

# Written by Kubernetes into every namespace, and by Fairway into a tenant's: its own rights there, which stay.
_ALWAYS = {"configmaps/kube-root-ca.crt", "serviceaccounts/default", "rolebindings/fairway-tenant"}
# About objects and not of them.
_ABOUT = {"events", "bindings", "localsubjectaccessreviews", "elasticquotatrees"}


def everything(api: Api, namespace: str) -> list[str]:
    """`plural/name` of every object, sorted."""
    found = set()
    for path, plural in _listed(api):
        items = api.items(f"{path}/namespaces/{namespace}/{plural}")
        found |= {f"{plural}/{one['metadata']['name']}" for one in items}
    return sorted(found - _ALWAYS)


@cache
def _listed(api: Api) -> list[tuple[str, str]]:
    """Version path and plural of every namespaced kind that can be listed."""
    groups = (api.get("/apis") or {})["groups"]
    versions = ["/api/v1", *(f"/apis/{one['preferredVersion']['groupVersion']}" for one in groups)]
    return [
        (version, one["name"])
        for version in versions
        for one in (api.get(version) or {"resources": []})["resources"]
        if one["namespaced"] and "list" in one["verbs"] and "/" not in one["name"] and one["name"] not in _ABOUT
    ]
