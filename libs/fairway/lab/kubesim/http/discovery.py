"""Discovery, version and OpenAPI: enough for kubectl and the client libraries to find every kind."""

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.api.registry import ApiResource, Registry

VERSION = {
    "major": "1",
    "minor": "34",
    "gitVersion": "v1.34.4",
    "platform": "linux/amd64",
    "compiler": "kubesim",
}
_STATUS_VERBS = ["get", "patch", "update"]
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


# kubectl before 1.28 reads version 2, in protobuf only: no bytes are a document without paths and schemas.
OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


def content_type(document: Json) -> str:
    """Clients tell the aggregated document from the plain one by this alone."""
    if document.get("kind") == "APIGroupDiscoveryList":
        return "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    return "application/json"


class Discovery:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def answer(self, parts: list[str], accept: str) -> Json | None:
        """The document at this path, or None when it is not a discovery path."""
        if not parts:
            return {"paths": ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]}
        if parts[0] == "version":
            return dict(VERSION)
        if parts[0] == "openapi":
            return self._openapi(parts[1:])
        aggregated = "g=apidiscovery.k8s.io" in accept and "v=v2;" in f"{accept};"
        if parts == ["api"]:
            return self._aggregated(core=True) if aggregated else {"kind": "APIVersions", "versions": ["v1"]}
        if parts == ["apis"]:
            listed = [_group(name, versions) for name, versions in self._registry.groups(True).items() if name]
            plain = {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
            return self._aggregated(core=False) if aggregated else plain
        return self._below(parts)

    def _below(self, parts: list[str]) -> Json | None:
        groups = self._registry.groups()
        if parts[0] == "api" and len(parts) == 2 and parts[1] == "v1":
            return self._resources("", "v1")
        if parts[0] != "apis" or len(parts) > 3 or parts[1] not in groups:
            return None
        if len(parts) == 2:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], groups[parts[1]])}
        return self._resources(parts[1], parts[2]) if parts[2] in groups[parts[1]] else None

    def _resources(self, group: str, version: str) -> Json:
        listed: list[Json] = []
        for resource in self._registry.of_version(group, version):
            listed.append(_entry(resource))
            if resource.status:
                name = f"{resource.plural}/status"
                listed.append({**listed[-1], "name": name, "verbs": _STATUS_VERBS, "shortNames": [], "categories": []})
        at = f"{group}/{version}" if group else version
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": at, "resources": listed}

    def _aggregated(self, core: bool) -> Json:
        items = []
        for group, versions in self._registry.groups().items():
            if bool(group) is core:
                continue
            served = [
                {"version": version, "freshness": "Current", "resources": self._of_version(group, version)}
                for version in versions
            ]
            items.append({"metadata": {"name": group} if group else {}, "versions": served})
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        }

    def _of_version(self, group: str, version: str) -> list[Json]:
        return [
            {
                "resource": resource.plural,
                "responseKind": _gvk(resource),
                "scope": "Namespaced" if resource.namespaced else "Cluster",
                "singularResource": resource.kind.lower(),
                "verbs": list(resource.verbs) or _VERBS,
                "shortNames": list(resource.short),
                "categories": resource.categories,
                "subresources": _subresources(resource),
            }
            for resource in self._registry.of_version(group, version)
        ]

    def _openapi(self, parts: list[str]) -> Json | None:
        """Version 3 without schemas: kubectl looks for the parameters of PATCH and falls back for the
        rest."""
        if parts == ["v3"]:
            paths = {
                _root(resource): {"serverRelativeURL": f"/openapi/v3/{_root(resource)}"} for resource in self._registry
            }
            return {"paths": paths}
        if parts[:1] != ["v3"]:
            return None
        root = "/".join(parts[1:])
        found = [resource for resource in self._registry if _root(resource) == root]
        if not found:
            return None
        paths = {f"/{root}/{_pattern(resource)}": _path_item(resource) for resource in found}
        return {"openapi": "3.0.0", "info": {"title": "kubesim", "version": "v1.34.4"}, "paths": paths}


def _group(name: str, versions: list[str]) -> Json:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _gvk(resource: ApiResource) -> Json:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _entry(resource: ApiResource) -> Json:
    return {
        "name": resource.plural,
        "singularName": resource.kind.lower(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs) or _VERBS,
        "shortNames": list(resource.short),
        "categories": resource.categories,
    }


def _subresources(resource: ApiResource) -> list[Json]:
    entry = {"subresource": "status", "responseKind": _gvk(resource), "verbs": _STATUS_VERBS}
    return [entry] if resource.status else []


def _root(resource: ApiResource) -> str:
    return f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"


def _pattern(resource: ApiResource) -> str:
    return (
        f"namespaces/{{namespace}}/{resource.plural}/{{name}}" if resource.namespaced else f"{resource.plural}/{{name}}"
    )


def _path_item(resource: ApiResource) -> Json:
    text = {"type": "string"}
    names = ("dryRun", "fieldManager", "fieldValidation", "force")
    parameters = [{"name": name, "in": "query", "schema": text} for name in names]
    return {
        "patch": {
            "parameters": parameters,
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": "patch",
            "x-kubernetes-group-version-kind": _gvk(resource),
        }
    }
