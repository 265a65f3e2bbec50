"""Which resources a cluster serves: built in, or added by a CustomResourceDefinition."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from fairway.lab.kubesim.api.errors import Json

SUBRESOURCES = ("status", "eviction", "log", "finalize")


class Column(Struct, frozen=True):
    """A printer column of `kubectl get`, as in a CRD's additionalPrinterColumns; `path` is a JSONPath."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0  # above 0: only with `-o wide`
    format: str = ""
    description: str = ""


# Of whose definition has no columns, and last of those of most others.
AGE = Column("Age", ".metadata.creationTimestamp", "date")


class ApiResource(Struct, frozen=True):
    """One kind in one served version. `status` says whether it has the status subresource, `verbs` what may be done to
    it if that is not everything."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short: tuple[str, ...] = ()
    status: bool = True
    columns: tuple[Column, ...] = ()
    builtin: bool = False
    verbs: tuple[str, ...] = ()

    @property
    def storage(self) -> str:
        """The same for every version of a kind: `pods`, `jobs.batch`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def categories(self) -> list[str]:
        """`all` is what `kubectl get all` shows: pods, services and everything that runs pods."""
        listed = self.plural.endswith(("jobs", "workflows", "sparkapplications", "rayclusters", "jobsets"))
        return ["all"] if listed or self.storage in ("pods", "services") else []

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class Target(Struct, frozen=True):
    """What a path names. An empty `name` is the collection, an empty `namespace` all of them."""

    resource: ApiResource
    namespace: str = ""
    name: str = ""
    sub: str = ""


def in_api(parts: list[str]) -> tuple[str, str, list[str]]:
    """Group and version of a path, and what is below them: nothing, where the path is none of a resource."""
    if parts[:1] == ["api"]:
        return "", parts[1] if len(parts) > 2 else "", parts[2:]
    return (parts[1], parts[2], parts[3:]) if parts[:1] == ["apis"] and len(parts) > 3 else ("", "", [])


class Registry:
    def __init__(self, resources: Iterable[ApiResource]) -> None:
        self._by_path: dict[tuple[str, str, str], ApiResource] = {}
        self._by_kind: dict[tuple[str, str], ApiResource] = {}
        for resource in resources:
            self.add(resource)

    def add(self, resource: ApiResource) -> None:
        self._by_path[resource.group, resource.version, resource.plural] = resource
        self._by_kind[resource.api_version, resource.kind] = resource

    def remove(self, resource: ApiResource) -> None:
        self._by_path.pop((resource.group, resource.version, resource.plural), None)
        self._by_kind.pop((resource.api_version, resource.kind), None)

    def find(self, group: str, version: str, plural: str) -> ApiResource | None:
        return self._by_path.get((group, version, plural))

    def of_kind(self, api_version: str, kind: str) -> ApiResource | None:
        return self._by_kind.get((api_version, kind))

    def __iter__(self) -> Iterator[ApiResource]:
        return iter(self._by_path.values())

    def of_version(self, group: str, version: str) -> list[ApiResource]:
        return [one for one in self if (one.group, one.version) == (group, version)]

    def groups(self, by_version: bool = False) -> dict[str, list[str]]:
        """Group → versions, the preferred one first. Those of definitions come last, by name, in the older document by
        version before that: where two groups serve a word, kubectl takes the first of them."""
        found: dict[str, list[str]] = {}
        defined: set[str] = set()
        for resource in self:
            versions = found.setdefault(resource.group, [])
            if resource.version not in versions:
                versions.append(resource.version)
            if not resource.builtin:
                defined.add(resource.group)
        builtin = (name for name in found if name not in defined)
        added = sorted(defined, key=lambda name: (found[name][0] if by_version else "", name))
        return {name: found[name] for name in (*builtin, *added)}


def of_crd(crd: Json) -> list[ApiResource]:
    """The served versions of a CustomResourceDefinition, the storage version first."""
    spec = crd.get("spec", {})
    names = spec.get("names", {})
    versions = [version for version in spec.get("versions", ()) if version.get("served", True)]
    versions.sort(key=lambda version: not version.get("storage", False))
    return [
        ApiResource(
            group=spec["group"],
            version=version["name"],
            kind=names["kind"],
            plural=names["plural"],
            namespaced=spec.get("scope", "Namespaced") == "Namespaced",
            short=tuple(names.get("shortNames", ())),
            status="status" in version.get("subresources", {}),
            columns=tuple(_columns(version)),
        )
        for version in versions
    ]


def _columns(version: Json) -> Iterator[Column]:
    for column in version.get("additionalPrinterColumns", ()):
        path = column["jsonPath"]
        about = column.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
        kind = column.get("type", "string")
        yield Column(column["name"], path, kind, column.get("priority", 0), column.get("format", ""), about)
